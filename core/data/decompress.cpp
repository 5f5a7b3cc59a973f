// SPDX-License-Identifier: Apache-2.0
// Gzip (RFC 1952) and Zstandard (RFC 8878) streams as byte sources.
#include <zlib.h>
#include <zstd.h>

#include <algorithm>

#include "core/data/byte_source.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

constexpr std::size_t input_piece = std::size_t{1} << 18;

/// What both have in common: input by pieces, the bound, the ways in which a stream can end early.
class Decompressed : public ByteSource {
 public:
  Decompressed(FileBytes& file, const char* name) : file_(file), name_(name), input_(input_piece, '\0') {}

  std::size_t read(char* into, std::size_t wanted) final {
    std::size_t filled = 0;
    while (filled < wanted && !ended_) {
      if (begin_ == end_ && !input_ended_) {
        end_ = file_.read(input_.data(), input_.size());
        begin_ = 0;
        input_ended_ = end_ < input_.size();
      }
      filled += step(into + filled, wanted - filled);
      check_expansion(filled);
    }
    produced_ += filled;
    return filled;
  }
  std::vector<std::string> warnings() const final {
    std::vector<std::string> all = {std::string("Unpacked from ") + name_};
    if (!problem_.empty()) all.push_back(problem_);
    return all;
  }

 protected:
  /// Turns input into at most `room` bytes; ends the source or takes input or gives output.
  virtual std::size_t step(char* into, std::size_t room) = 0;

  std::string_view input() const { return std::string_view(input_).substr(begin_, end_ - begin_); }
  void take(std::size_t bytes) {
    begin_ += bytes;
    taken_ += bytes;
  }
  bool input_ended() const { return input_ended_ && begin_ == end_; }
  void end() { ended_ = true; }
  void broken(const std::string& how) {
    problem_ = std::string("The ") + name_ + " data " + how + " at byte " + std::to_string(taken_) +
               " of the file: what could be unpacked before that is used";
    end();
  }
  void breaks_off() {
    problem_ = std::string("The ") + name_ + " data break off at the end of the file (byte " +
               std::to_string(taken_) + "): what could be unpacked is used";
    end();
  }
  void note_rest() { problem_ = std::string("What stands after the ") + name_ + " data was left out"; }

 private:
  void check_expansion(std::size_t now) const {
    const std::uint64_t bytes = produced_ + now;
    if (bytes <= free_expansion || (bytes - free_expansion) / most_expansion <= taken_) return;
    throw Error(ErrorCode::bad_format,
                "The file unpacks to more than " + std::to_string(most_expansion) +
                    " times its size, which no text does",
                file_.path(), "Unpack it yourself if you trust it");
  }

  FileBytes& file_;
  const char* name_;
  std::string input_;
  std::size_t begin_ = 0, end_ = 0;  ///< what of input_ is not used yet
  bool input_ended_ = false, ended_ = false;
  std::uint64_t taken_ = 0, produced_ = 0;
  std::string problem_;
};

class GzipBytes final : public Decompressed {
 public:
  explicit GzipBytes(FileBytes& file) : Decompressed(file, "gzip") {
    constexpr int largest_window_with_gzip_header = 15 + 16;
    if (inflateInit2(&stream_, largest_window_with_gzip_header) != Z_OK) throw std::bad_alloc();
  }
  ~GzipBytes() override { inflateEnd(&stream_); }

 private:
  std::size_t step(char* into, std::size_t room) override {
    if (between_members_ && !begin_member()) return 0;
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input().data()));
    stream_.avail_in = static_cast<uInt>(input().size());
    stream_.next_out = reinterpret_cast<Bytef*>(into);
    const uInt asked = static_cast<uInt>(std::min<std::size_t>(room, input_piece));
    stream_.avail_out = asked;
    const bool no_more = input().empty();
    const int status = inflate(&stream_, Z_NO_FLUSH);
    take(input().size() - stream_.avail_in);
    const std::size_t made = asked - stream_.avail_out;
    if (status == Z_STREAM_END) {
      between_members_ = true;
    } else if (status == Z_BUF_ERROR) {
      if (no_more && made == 0) breaks_off();
    } else if (status != Z_OK) {
      broken("are damaged");
    }
    return made;
  }
  bool begin_member() {
    if (input_ended() || input().empty()) {
      if (input_ended()) end();
      return false;
    }
    if (input().front() != '\x1F') {
      if (input().find_first_not_of('\0') != std::string_view::npos) note_rest();  // zeros: padding of tapes
      end();
      return false;
    }
    between_members_ = false;
    inflateReset(&stream_);
    return true;
  }

  z_stream stream_ = {};
  bool between_members_ = false;
};

class ZstdBytes final : public Decompressed {
 public:
  explicit ZstdBytes(FileBytes& file) : Decompressed(file, "zstd"), stream_(ZSTD_createDStream()) {
    if (!stream_) throw std::bad_alloc();
  }
  ~ZstdBytes() override { ZSTD_freeDStream(stream_); }

 private:
  std::size_t step(char* into, std::size_t room) override {
    const bool no_more = input().empty();
    ZSTD_inBuffer in = {input().data(), input().size(), 0};
    ZSTD_outBuffer out = {into, std::min(room, input_piece), 0};
    const std::size_t status = ZSTD_decompressStream(stream_, &out, &in);
    take(in.pos);
    if (ZSTD_isError(status)) {
      broken(std::string("are damaged (") + ZSTD_getErrorName(status) + ")");
    } else if (no_more && out.pos == 0) {
      between_frames_ ? end() : breaks_off();
    } else {
      between_frames_ = status == 0;
    }
    return out.pos;
  }

  ZSTD_DStream* stream_;
  bool between_frames_ = true;
};

}  // namespace

std::unique_ptr<ByteSource> decompress(FileBytes& file, Compression compression) {
  if (compression == Compression::gzip) return std::make_unique<GzipBytes>(file);
  return std::make_unique<ZstdBytes>(file);
}

}  // namespace lorikeet
