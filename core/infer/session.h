// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/model/transformer.h"
#include "core/text/tokenizer.h"

namespace lorikeet {

/// How the next token is picked, in the order of Hugging Face: penalty, temperature, top-k, top-p, min-p.
struct Sampling {
  bool greedy = false;  ///< the largest logit, the lowest id on ties
  double temperature = 0.7;
  std::int64_t top_k = 40;      ///< 0 = off
  double top_p = 0.95;          ///< 1 = off
  double min_p = 0.05;          ///< 0 = off
  double repeat_penalty = 1.0;  ///< 1 = off
  std::int64_t repeat_window = 64;
  std::uint64_t seed = 0;  ///< 0 = drawn anew
  std::int64_t max_new_tokens = 512;
};

/// Picks a token from logits f32 [V]; `recent` are the last tokens, newest last; `draw` is the index of this
/// draw in the seed's stream. Pure function.
TokenId sample_token(std::vector<float>& logits, const std::vector<TokenId>& recent, const Sampling& sampling,
                     std::uint64_t draw);

/// A KV cache on one resident base with any number of adapters, each with a strength. Keeps the ids it has
/// seen: the next prompt only computes what differs from them.
class Session {
 public:
  /// `context` in tokens; `rope_linear_factor` as the adapter was trained with (lorikeet.json), 1 = none.
  Session(BaseModel& model, DType compute, std::int64_t context, double rope_linear_factor = 1);
  ~Session();

  /// Strength 0 leaves the adapter out, 1 is as trained; between and beyond, every changed weight lies on the
  /// straight line from the base's to the adapter's: for LoRA strength multiplies its scale, for DoRA see
  /// DoraMix. A factor replaces the session's. Clears the cache. What follows from a DoRA adapter's numbers is
  /// made here, so call it again when they have changed. When memory runs out, the adapters and the factor are
  /// those of before.
  void set_adapters(std::vector<std::pair<const LoraAdapter*, double>> adapters,
                    std::optional<double> rope_linear_factor = {});
  /// Makes the cache hold exactly `ids`, reusing the common prefix; the logits of the last position are on
  /// the device then. Throws Error(invalid_argument) when they exceed the context, Error(cancelled) between
  /// chunks.
  void prefill(const std::vector<TokenId>& ids, std::stop_token stop = {});
  /// Appends one token; the logits after it are on the device then, or will be: nothing is waited for.
  void decode(TokenId id);
  /// Draws the next token on the device from those logits, which it may change; `draw` is the index of this
  /// draw in the seed's stream. Throws Error(numeric) when they are not finite.
  TokenId sample(const Sampling& sampling, std::uint64_t draw);
  /// The logits f32 [V] in host memory; for tests and proofs.
  const std::vector<float>& logits();

  std::int64_t context() const;
  const std::vector<TokenId>& ids() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Joins token bytes into valid UTF-8: incomplete characters wait, bytes that can never complete become
/// U+FFFD.
class Utf8Stream {
 public:
  std::string push(std::string_view bytes);  ///< what may be shown now
  std::string finish();                      ///< the rest

 private:
  std::string pending_;
};

enum class StopReason : std::uint8_t { end_token, length, context_full, cancelled };
const char* to_string(StopReason reason);

/// One answer: hand out text until it ends.
class Generator {
 public:
  Generator(Session& session, const Tokenizer& tokenizer, std::vector<TokenId> stop_ids, Sampling sampling);

  /// Starts an answer to these ids.
  void start(const std::vector<TokenId>& prompt, std::stop_token stop = {});
  struct Piece {
    TokenId id = -1;
    std::string text;  ///< valid UTF-8, may be empty while a character is incomplete
  };
  /// The next piece, or nothing when the answer has ended; stop_reason() then says why.
  std::optional<Piece> next(std::stop_token stop = {});
  StopReason stop_reason() const { return reason_; }
  std::int64_t generated_tokens() const { return generated_; }
  const Sampling& sampling() const { return sampling_; }  ///< with the seed that was drawn

 private:
  Session& session_;
  const Tokenizer& tokenizer_;
  std::vector<TokenId> stop_ids_;
  Sampling sampling_;
  Utf8Stream utf8_;
  std::int64_t generated_ = 0;
  bool ended_ = true;
  StopReason reason_ = StopReason::end_token;
};

}  // namespace lorikeet
