// SPDX-License-Identifier: Apache-2.0
#include "core/model/foreign_file.h"

#include <algorithm>
#include <string_view>

#include "kernels/base/error.h"

namespace lorikeet {
namespace {

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// PyTorch's archive: a zip whose members include <name>/data.pkl. Member names stand at the front and again
/// in the directory at the end, so looking at both ends is enough.
bool is_torch_archive(std::string_view file) {
  if (file.substr(0, 4) != std::string_view("PK\x03\x04", 4)) return false;
  constexpr std::size_t window = 1 << 20;
  const std::string_view front = file.substr(0, window);
  const std::string_view back = file.substr(file.size() - std::min(file.size(), window));
  return front.find("data.pkl") != std::string_view::npos || back.find("data.pkl") != std::string_view::npos;
}

/// Protocol 2 and later start with PROTO (0x80) and its number, then an opcode: a letter or 0x80 to 0x97.
bool is_binary_pickle(std::string_view file) {
  if (file.size() < 4 || file[0] != '\x80' || file[1] < 2 || file[1] > 5) return false;
  const auto opcode = static_cast<unsigned char>(file[2]);
  return (opcode >= 0x28 && opcode < 0x7f) || (opcode >= 0x80 && opcode <= 0x97);
}

/// Protocols 0 and 1 have no mark: they begin with a container or a global (two lines of text) and end with
/// STOP.
bool is_text_pickle(std::string_view file) {
  if (file.size() < 4 || file.back() != '.') return false;
  if (file[0] == 'c') {
    const std::string_view front = file.substr(0, 256);
    return std::count(front.begin(), front.end(), '\n') >= 2;
  }
  constexpr std::string_view containers = "(c]}dl", next = "dlqp(t";
  return containers.find(file[0]) != std::string_view::npos && next.find(file[1]) != std::string_view::npos;
}

}  // namespace

bool is_pickle(std::span<const std::byte> file) {
  const std::string_view text = text_of(file);
  return is_torch_archive(text) || is_binary_pickle(text) || is_text_pickle(text);
}

Error pickle_error(const std::string& path) {
  return Error(ErrorCode::unsupported,
               "These weights are a Python pickle, which can run code when it is opened", path,
               "Get the same model as .safetensors; most model pages offer it, or save it again with "
               "save_pretrained(..., safe_serialization=True)");
}

void refuse_foreign_file(std::span<const std::byte> file, const std::string& path) {
  if (is_pickle(file)) throw pickle_error(path);
  const std::string_view text = text_of(file);
  if (text.substr(0, 24) == "version https://git-lfs.") {
    throw Error(ErrorCode::bad_format, "This is a Git LFS pointer, not the model itself", path,
                "Run git lfs pull in its folder, or download the file");
  }
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  if (start != std::string_view::npos &&
      (text.substr(start, 5) == "<!DOC" || text.substr(start, 5) == "<html")) {
    throw Error(ErrorCode::bad_format, "This is a web page, not a model; the download went wrong", path,
                "Download it again");
  }
}

}  // namespace lorikeet
