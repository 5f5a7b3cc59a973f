// SPDX-License-Identifier: Apache-2.0
// RoPE of a config.json: transformers 5 has all in rope_parameters, 4 has rope_theta beside rope_scaling
// (formats.md §1.5). What stands in the object counts before what stands beside it.
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/model/rope.h"
#include "core/model/spec_limits.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

class RopeReader {
 public:
  RopeReader(const Json& config, const std::string& family, const std::string& name)
      : config_(config), family_(family), name_(name) {
    const char* key = "rope_parameters";
    auto found = config.find(key);
    if (found == config.end() || found->is_null()) found = config.find(key = "rope_scaling");
    where_ = name + ": " + key;
    if (found == config.end() || found->is_null()) return;
    if (!found->is_object()) throw Error(ErrorCode::bad_format, "Expected an object", where_);
    values_ = *found;
    take_layer_kind();
  }

  RopeSpec read(std::int64_t head_dim, std::int64_t context, double rotary_share) {
    RopeSpec rope;
    rope.theta = number("rope_theta", 10000.0);
    const double share = number("partial_rotary_factor", rotary_share);
    if (!(share > 0 && share <= 1))
      throw Error(ErrorCode::bad_format, "The rotary part is not between 0 and 1", where_);
    rope.rotary_dim = static_cast<std::int64_t>(static_cast<double>(head_dim) * share);
    rope.kind = kind();
    using Kind = RopeSpec::Kind;
    if (rope.kind == Kind::plain) return rope;
    if (rope.kind != Kind::longrope && !(rope.kind == Kind::yarn && !given("factor")))
      rope.factor = required("factor");
    rope.original_context = context;
    if (rope.kind == Kind::yarn || rope.kind == Kind::longrope) {
      rope.original_context = whole("original_max_position_embeddings", context);
      if (rope.kind == Kind::yarn)
        read_yarn(rope, context);
      else
        read_longrope(rope, context);
    }
    if (rope.kind == Kind::llama3) {
      rope.low_freq_factor = required("low_freq_factor");
      rope.high_freq_factor = required("high_freq_factor");
      required("original_max_position_embeddings");
      rope.original_context = whole("original_max_position_embeddings", 0);
    }
    return rope;
  }

 private:
  bool given(const char* key) const {
    const auto found = values_.find(key);
    return found != values_.end() && !found->is_null();
  }

  double number(const char* key, double fallback) const {
    return json_number(values_, key, json_number(config_, key, fallback, name_), where_);
  }
  std::int64_t whole(const char* key, std::int64_t fallback) const {
    return json_int(values_, key, json_int(config_, key, fallback, 1, SpecLimits::context, name_), 1,
                    SpecLimits::context, where_);
  }
  double required(const char* key) const {
    if (!given(key))
      throw Error(ErrorCode::bad_format, "The RoPE scaling lacks a value", where_ + ": " + key);
    return json_number(values_, key, 0, where_);
  }

  /// The object may be one per kind of layer; where all say the same that is what counts.
  void take_layer_kind() {
    const bool full = given("full_attention"), sliding = given("sliding_attention");
    if (!full && !sliding) return;
    if (full && sliding && values_["full_attention"] != values_["sliding_attention"]) {
      throw Error(ErrorCode::unsupported, "RoPE that differs by kind of layer cannot be used yet", where_);
    }
    const Json one = values_[full ? "full_attention" : "sliding_attention"];
    if (!one.is_object()) throw Error(ErrorCode::bad_format, "Expected an object", where_);
    values_ = one;
  }

  RopeSpec::Kind kind() const {
    using Kind = RopeSpec::Kind;
    const std::string kind =
        json_string(values_, "rope_type", json_string(values_, "type", "default", where_), where_);
    if (kind == "default") return Kind::plain;
    // What Phi-3's first configurations called these is longrope today.
    if (kind == "longrope" || (family_ == "phi3" && (kind == "su" || kind == "yarn"))) return Kind::longrope;
    if (kind == "linear") return Kind::linear;
    if (kind == "dynamic") return Kind::dynamic;
    if (kind == "yarn") return Kind::yarn;
    if (kind == "llama3") return Kind::llama3;
    throw Error(ErrorCode::unsupported, "RoPE scaling of the kind \"" + kind + "\" cannot be used", where_,
                "The kinds linear, dynamic, yarn, llama3 and longrope can");
  }

  void read_yarn(RopeSpec& rope, std::int64_t context) const {
    if (!given("factor"))
      rope.factor = static_cast<double>(context) / static_cast<double>(rope.original_context);
    rope.beta_fast = given("beta_fast") ? number("beta_fast", 32) : 32;
    rope.beta_slow = given("beta_slow") ? number("beta_slow", 1) : 1;
    rope.truncate = json_bool(values_, "truncate", true, where_);
    const double mscale = given("mscale") ? number("mscale", 0) : 0;
    const double all = given("mscale_all_dim") ? number("mscale_all_dim", 0) : 0;
    const auto scaled = [&](double by) {
      return rope.factor <= 1 ? 1.0 : 0.1 * by * std::log(rope.factor) + 1.0;
    };
    if (given("attention_factor"))
      rope.attention_factor = number("attention_factor", 1);
    else if (mscale != 0 && all != 0)
      rope.attention_factor = scaled(mscale) / scaled(all);
    else
      rope.attention_factor = yarn_attention_factor(rope.factor);
  }

  void read_longrope(RopeSpec& rope, std::int64_t context) const {
    rope.short_factors = factors("short_factor");
    rope.long_factors = factors("long_factor");
    const double stretch = given("factor")
                               ? number("factor", 1)
                               : static_cast<double>(context) / static_cast<double>(rope.original_context);
    rope.attention_factor = given("attention_factor")
                                ? number("attention_factor", 1)
                                : longrope_attention_factor(stretch, rope.original_context);
  }

  std::vector<float> factors(const char* key) const {
    const auto found = values_.find(key);
    const std::string where = where_ + ": " + key;
    if (found == values_.end() || !found->is_array() || found->size() > SpecLimits::head_dim)
      throw Error(ErrorCode::bad_format, "Expected a list of numbers", where);
    std::vector<float> list;
    for (const Json& value : *found) {
      if (!value.is_number()) throw Error(ErrorCode::bad_format, "Expected a list of numbers", where);
      list.push_back(value.get<float>());
    }
    return list;
  }

  const Json& config_;
  const std::string& family_;
  const std::string& name_;
  std::string where_;
  Json values_ = Json::object();
};

}  // namespace

RopeSpec rope_from_config(const Json& config, const std::string& family, std::int64_t head_dim,
                          std::int64_t context, double rotary_share, const std::string& name) {
  return RopeReader(config, family, name).read(head_dim, context, rotary_share);
}

}  // namespace lorikeet
