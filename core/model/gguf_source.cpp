// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <span>
#include <unordered_map>

#include "core/model/gguf.h"
#include "core/model/model_config.h"
#include "core/model/model_files.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

struct NamePair {
  const char* gguf;
  const char* hf;
};
constexpr NamePair model_names[] = {
    {"token_embd", "model.embed_tokens"}, {"output_norm", "model.norm"}, {"output", "lm_head"}};
constexpr NamePair layer_names[] = {{"attn_norm", "input_layernorm"},
                                    {"attn_q", "self_attn.q_proj"},
                                    {"attn_k", "self_attn.k_proj"},
                                    {"attn_v", "self_attn.v_proj"},
                                    {"attn_qkv", "self_attn.qkv_proj"},
                                    {"attn_q_norm", "self_attn.q_norm"},
                                    {"attn_k_norm", "self_attn.k_norm"},
                                    {"attn_output", "self_attn.o_proj"},
                                    {"ffn_norm", "post_attention_layernorm"},
                                    {"ffn_gate", "mlp.gate_proj"},
                                    {"ffn_up", "mlp.up_proj"},
                                    {"ffn_down", "mlp.down_proj"}};
/// What families call otherwise.
constexpr NamePair gemma2_names[] = {{"ffn_norm", "pre_feedforward_layernorm"},
                                     {"post_attention_norm", "post_attention_layernorm"},
                                     {"post_ffw_norm", "post_feedforward_layernorm"}};
constexpr NamePair phi_names[] = {
    {"attn_output", "self_attn.dense"}, {"ffn_up", "mlp.fc1"}, {"ffn_down", "mlp.fc2"}};
constexpr NamePair phi_model_names[] = {{"output_norm", "model.final_layernorm"}};
constexpr NamePair phi3_names[] = {{"ffn_up", "mlp.gate_up_proj"}};

std::optional<std::string> renamed(std::span<const NamePair> names, std::string_view stem) {
  for (const NamePair& pair : names) {
    if (stem == pair.gguf) return pair.hf;
  }
  return std::nullopt;
}

std::span<const NamePair> own_layer_names(const std::string& family) {
  if (family == "gemma2") return gemma2_names;
  if (family == "phi") return phi_names;
  if (family == "phi3") return phi3_names;
  return {};
}

/// Hugging Face name of a GGUF tensor (formats.md §7.4); one without a counterpart keeps its own.
std::string hf_name(const std::string& name, const std::string& family) {
  const std::string_view whole = name;
  const std::size_t dot = whole.rfind('.');
  if (dot == std::string_view::npos) return name;
  const std::string ending(whole.substr(dot));
  if (ending != ".weight" && ending != ".bias") return name;
  const std::string_view stem = whole.substr(0, dot);
  if (family == "phi") {
    if (const auto hf = renamed(phi_model_names, stem)) return *hf + ending;
  }
  if (const auto hf = renamed(model_names, stem)) return *hf + ending;
  if (stem.substr(0, 4) != "blk.") return name;
  const std::size_t next = stem.find('.', 4);
  if (next == std::string_view::npos || next == 4) return name;
  const std::string_view layer = stem.substr(4, next - 4);
  if (layer.find_first_not_of("0123456789") != std::string_view::npos) return name;
  auto hf = renamed(own_layer_names(family), stem.substr(next + 1));
  if (!hf) hf = renamed(layer_names, stem.substr(next + 1));
  return hf ? "model.layers." + std::string(layer) + "." + *hf + ending : name;
}

bool is_module(const std::string& hf, const char* module) {
  return hf.find(std::string(".") + module + ".") != std::string::npos;
}

/// A GGUF file whose tensors carry Hugging Face names and stand for what they are there.
class GgufSource : public WeightSource {
 public:
  explicit GgufSource(const std::string& path) : file_(path) {
    const ModelSpec spec = spec_from_gguf(file_);
    for (std::size_t i = 0; i < file_.tensors().size(); ++i) {
      const GgufTensor& entry = file_.tensors()[i];
      SourceTensor tensor;
      tensor.name = hf_name(entry.name, spec.family);
      tensor.type = entry.type;
      tensor.dtype = entry.dtype;
      tensor.shape = entry.shape;
      tensor.bytes = file_.bytes(entry);
      const bool is_norm = tensor.name.ends_with("norm.weight");
      if (is_norm && spec.norm == NormKind::rms_one_plus) tensor.added = -1;
      // llama.cpp's converter interleaves the two halves of each rotated head of q and k.
      if (spec.family == "llama") {
        if (is_module(tensor.name, "self_attn.q_proj")) tensor.permuted_heads = spec.heads;
        if (is_module(tensor.name, "self_attn.k_proj")) tensor.permuted_heads = spec.kv_heads;
      }
      if (is_module(tensor.name, "self_attn.qkv_proj") && !spec.fused_qkv)
        add_parts(tensor, spec, i);
      else
        add(std::move(tensor), i);
    }
  }

  const std::string& path() const override { return file_.path(); }
  const std::vector<SourceTensor>& tensors() const override { return tensors_; }
  const SourceTensor* find(const std::string& name) const override {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : &tensors_[found->second];
  }
  void forget(const SourceTensor& tensor) const override {
    const auto found = by_name_.find(tensor.name);
    if (found != by_name_.end()) file_.forget(file_.tensors()[entries_[found->second]]);
  }

 private:
  void add(SourceTensor tensor, std::size_t entry) {
    if (!by_name_.emplace(tensor.name, tensors_.size()).second) {
      throw Error(ErrorCode::bad_format, "Two tensors stand for " + tensor.name,
                  file_.path() + ": " + file_.tensors()[entry].name);
    }
    tensors_.push_back(std::move(tensor));
    entries_.push_back(entry);
  }

  /// Rows of q, k and v that older converters laid below each other where the model has three matrices
  /// (Phi-2).
  void add_parts(const SourceTensor& whole, const ModelSpec& spec, std::size_t entry) {
    const std::int64_t q = spec.heads * spec.head_dim, kv = spec.kv_heads * spec.head_dim;
    if (whole.shape.empty() || whole.shape[0] != q + 2 * kv) return add(whole, entry);
    const std::uint64_t row_bytes = whole.bytes.size() / static_cast<std::uint64_t>(q + 2 * kv);
    std::int64_t first = 0;
    for (const auto& [letter, rows] : {std::pair{"q", q}, {"k", kv}, {"v", kv}}) {
      SourceTensor part = whole;
      part.name.replace(part.name.find("qkv_proj"), 3, letter);
      part.shape[0] = rows;
      part.bytes = whole.bytes.subspan(static_cast<std::size_t>(first) * row_bytes,
                                       static_cast<std::size_t>(rows) * row_bytes);
      first += rows;
      add(std::move(part), entry);
    }
  }

  GgufFile file_;
  std::vector<SourceTensor> tensors_;  ///< in the order of the file's own table
  std::vector<std::size_t> entries_;   ///< where they are there
  std::unordered_map<std::string, std::size_t> by_name_;
};

}  // namespace

std::unique_ptr<WeightSource> open_gguf_weights(const std::string& path) {
  return std::make_unique<GgufSource>(path);
}

}  // namespace lorikeet
