// SPDX-License-Identifier: Apache-2.0
#include "core/model/check_model.h"

#include <algorithm>
#include <set>

#include "core/model/model_spec.h"
#include "core/model/weight_source.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

constexpr std::size_t most_findings = 20;

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// Tables that old checkpoints carry along, which follow from the configuration, and those that are part of
/// it.
bool is_derived(const std::string& name) {
  return name == "rope_freqs.weight" || name == "rope_factors_long.weight" ||
         name == "rope_factors_short.weight" || ends_with(name, ".rotary_emb.inv_freq") ||
         ends_with(name, ".attention.bias") || ends_with(name, ".attention.masked_bias");
}

/// Collects findings, of each kind no more than a person will read.
class Findings {
 public:
  void add(bool fatal, const std::string& what, const std::string& where) {
    if (++count_ <= most_findings) all_.push_back({fatal, what, where});
  }
  void end_kind(bool fatal, const std::string& kind) {
    if (count_ > most_findings)
      all_.push_back({fatal, std::to_string(count_ - most_findings) + " more " + kind, ""});
    count_ = 0;
  }
  std::vector<ModelFinding> take() { return std::move(all_); }

 private:
  std::vector<ModelFinding> all_;
  std::size_t count_ = 0;
};

void add_norm(const ModelSpec& spec, const std::string& name, std::int64_t width,
              std::vector<ExpectedTensor>& out) {
  out.push_back({name + ".weight", {width}});
  if (spec.norm == NormKind::layer) out.push_back({name + ".bias", {width}});
}

void add_linear(const std::string& name, std::int64_t rows, std::int64_t columns, bool bias,
                std::vector<ExpectedTensor>& out) {
  out.push_back({name + ".weight", {rows, columns}});
  if (bias) out.push_back({name + ".bias", {rows}});
}

void add_layer(const ModelSpec& spec, std::int64_t layer, std::vector<ExpectedTensor>& out) {
  const std::string prefix = "model.layers." + std::to_string(layer) + ".";
  const std::vector<NormModule> norms = norm_modules(spec);
  const auto add_norms = [&](bool of_mlp) {
    for (const NormModule& norm : norms) {
      if ((norm.role == mlp_norm || norm.role == mlp_output_norm) == of_mlp)
        add_norm(spec, prefix + norm.name, norm.width, out);
    }
  };
  add_norms(false);
  bool in_mlp = false;
  for (const LinearModule& module : linear_modules(spec)) {
    if (!in_mlp && module.name.rfind("mlp.", 0) == 0) {
      in_mlp = true;
      add_norms(true);
    }
    add_linear(prefix + module.name, module.out, module.in, module.bias, out);
  }
}

}  // namespace

std::vector<ExpectedTensor> expected_tensors(const ModelSpec& spec) {
  std::vector<ExpectedTensor> out;
  out.push_back({"model.embed_tokens.weight", {spec.vocab_size, spec.hidden_size}});
  for (std::int64_t layer = 0; layer < spec.layers; ++layer) add_layer(spec, layer, out);
  add_norm(spec, final_norm_name(spec), spec.hidden_size, out);
  if (!spec.tied_head) add_linear("lm_head", spec.vocab_size, spec.hidden_size, spec.head_bias, out);
  return out;
}

std::vector<ModelFinding> check_model(const ModelSpec& spec, const WeightSource& source) {
  Findings findings;
  std::set<std::string> used;
  for (const ExpectedTensor& tensor : expected_tensors(spec)) {
    used.insert(tensor.name);
    try {
      require_tensor(source, tensor.name, tensor.shape);
    } catch (const Error& error) {
      findings.add(true, error.message(), tensor.name);
    }
  }
  findings.end_kind(true, "tensors are missing or wrong");
  for (const SourceTensor& tensor : source.tensors()) {
    if (used.count(tensor.name) || is_derived(tensor.name)) continue;
    const bool second_head = spec.tied_head && tensor.name == "lm_head.weight";
    findings.add(false,
                 second_head ? "The head is tied to the embedding, so this tensor is not used"
                             : "The tensor is not used",
                 tensor.name);
  }
  findings.end_kind(false, "tensors are not used");
  return findings.take();
}

void require_complete_model(const ModelSpec& spec, const WeightSource& source) {
  const std::vector<ModelFinding> findings = check_model(spec, source);
  const auto fatal = [](const ModelFinding& finding) { return finding.fatal; };
  const auto first = std::find_if(findings.begin(), findings.end(), fatal);
  if (first == findings.end()) return;
  const auto more = std::count_if(findings.begin(), findings.end(), fatal) - 1;
  throw Error(
      ErrorCode::bad_format, first->what, source.path() + ": " + first->where,
      more > 0 ? std::to_string(more) + " more tensors are missing or wrong; see lorikeet inspect" : "");
}

}  // namespace lorikeet
