// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/data/dataset.h"
#include "core/model/activation_plan.h"
#include "core/model/model_spec.h"
#include "core/train/micro_batches.h"
#include "core/train/operations.h"
#include "core/train/settings.h"

namespace lorikeet {

/// Bytes by kind; their sum is what the run will hold at its peak.
struct MemoryPlan {
  std::uint64_t base_weights = 0;  ///< quantised linears, embeddings, norms, head
  std::uint64_t adapter = 0;       ///< f32 masters
  std::uint64_t gradients = 0;     ///< of the adapter, f32
  std::uint64_t optimizer = 0;
  std::uint64_t activations = 0;     ///< kept and live
  std::uint64_t dequantization = 0;  ///< weights of the linear layers at hand in the compute type
  std::uint64_t logits = 0;          ///< of one chunk of label rows
  std::uint64_t workspace =
      0;                      ///< of products and attention: panels and tiles on the CPU, cuBLASLt's on CUDA
  std::uint64_t samples = 0;  ///< caches and work space of the answers to sample prompts
  std::uint64_t host =
      0;  ///< beside the back end: program, tokenizer, rows, generated code, a checkpoint's copy
  bool host_is_apart = false;  ///< the device has memory of its own: `host` is not counted in the total
  std::uint64_t trained() const { return adapter + gradients; }
  std::uint64_t scratch() const {
    return dequantization + logits + workspace + samples + (host_is_apart ? 0 : host);
  }
  std::uint64_t total() const { return base_weights + trained() + optimizer + activations + scratch(); }
};

/// What the plan needs to know of the device.
struct PlanDevice {
  std::uint64_t memory_limit_bytes = 0;  ///< resolved, never 0
  int compute_bytes = 4;                 ///< 2 for bf16 and f16
  bool is_cuda = false;
  std::uint64_t host_free_bytes = 0;  ///< of the host's memory, where the device has its own; 0 = not known
  int cpu_compute_bytes = 4;          ///< of the numbers that device cpu would compute in there
  int threads = 2;                    ///< of the CPU: each has buffers of its own
  bool widens_products = false;       ///< the CPU multiplies 16-bit numbers as f32
  int compute_capability = 0;         ///< of a GPU, for example 89; 0 = not known
  double operations_per_second = 0, bytes_per_second = 0;  ///< ceilings, for estimates; 0 = not known
};

/// What a run will do, from arithmetic alone; the same for the wizard, `lorikeet plan` and the trainer.
struct Plan {
  std::int64_t rows = 0;  ///< training rows
  std::int64_t evaluation_rows = 0;
  std::int64_t tokens = 0;  ///< of one epoch
  std::int64_t trained_tokens = 0;
  std::int64_t max_length = 0;     ///< resolved
  std::int64_t largest_batch = 0;  ///< tokens of the largest micro-batch
  std::int64_t micro_batches_per_epoch = 0;
  std::int64_t steps_per_epoch = 0;
  std::int64_t steps = 0;  ///< of the whole run
  std::int64_t warmup_steps = 0;
  std::int64_t eval_every = 0, save_every = 0;
  std::int64_t adapter_parameters = 0;
  std::int64_t recomputed_layers = 0;  ///< layers that are run forward again for their backward (kept_layers)
  MemoryPlan memory;
  std::uint64_t host_bytes = 0;        ///< page-locked memory of the host, beside the device's: with offload
  std::uint64_t checkpoint_bytes = 0;  ///< of one
  std::uint64_t disk_bytes = 0;        ///< checkpoints kept, one being written, and the adapter
  std::uint64_t export_bytes = 0;  ///< a merged model in 16 bits, should one be exported; not in disk_bytes
  double operations = 0;           ///< floating-point operations of the whole run
  std::optional<double> seconds;   ///< after a measured step
  double estimated_seconds = 0;  ///< from the device's ceilings, before anything was measured; 0 = not known
  std::vector<std::string> warnings;  ///< for example fewer than 20 steps
  bool fits = true;
  std::string why_not;   ///< when it does not fit
  std::string ways_out;  ///< what to change then, the cheapest first
};

/// What the plan needs to know of the data.
struct DataShape {
  std::int64_t rows = 0;
  std::int64_t evaluation_rows = 0;
  std::int64_t tokens = 0;
  std::int64_t trained_tokens = 0;
  std::int64_t longest_row = 0;       ///< tokens, after cutting, evaluation rows included
  std::int64_t longest_rows_sum = 0;  ///< tokens of the batch_size longest rows together
  /// With packing: tokens of the batch_size fullest bins together, 0 = not known. It is the same in every
  /// epoch: which lengths share a bin does not depend on the order of the rows.
  std::int64_t fullest_bins_sum = 0;
  std::int64_t micro_batches_per_epoch = 0;
  std::int64_t evaluation_tokens = 0;
  std::int64_t sample_tokens = 0;  ///< context of the sample prompts' session, 0 = no prompts
  double pairs = 0;                ///< sum of squared lengths of the training rows

  TokenCounts counts() const;  ///< of one epoch
};

/// Layers keep their activations as far as memory allows; as few as possible are recomputed where it does
/// not.
Plan make_plan(const ModelSpec& spec, const DataShape& data, const Settings& settings,
               const PlanDevice& device);

/// Whether the memory of such a run fits, with all layers recomputed where that is needed.
bool fits_in_memory(const ModelSpec& spec, const DataShape& data, const Settings& settings,
                    const PlanDevice& device);

/// The single changes that make a run fit which does not: "Use --batch-size 1 --accumulation 16 or --offload
/// true, or use
/// --device cpu". (ways_out.cpp)
std::string ways_out(const ModelSpec& spec, const DataShape& data, const Settings& settings,
                     const PlanDevice& device);
/// Which of `layers` keep their activations when `recomputed` of them are to be run forward again: 0 keeps
/// all. Layers are alike in time and bytes, so only their place decides. The last one is always among those
/// that are not kept: what its forward left in the room of the layer at hand is still there when the backward
/// begins, so it needs no second forward. The others are the first ones, whose inputs, where they wait in
/// memory of the host, are needed last.
std::vector<bool> kept_layers(std::int64_t layers, std::int64_t recomputed);

/// Corrects a plan where a run goes on with smaller micro-batches or more layers recomputed than planned.
void plan_step_shape(Plan& plan, const ModelSpec& spec, const DataShape& data, const Settings& settings,
                     const PlanDevice& device, const StepShape& shape);

/// Bytes of the resident base model; `wide_bytes` are those of an element of the embedding (4, or 2 where not
/// f32).
std::uint64_t base_bytes(const ModelSpec& spec, const Settings& settings, std::uint64_t wide_bytes);

/// The layout of the activations that make_plan counts and the Transformer uses for such a run.
ActivationShape activation_shape(const ModelSpec& spec, const Settings& settings, const PlanDevice& device,
                                 std::int64_t largest_batch, std::int64_t recomputed_layers);

/// Tokens of context in which the sample prompts of a run are answered.
std::int64_t sample_context(const ModelSpec& spec);
/// Tokens of the largest micro-batch any epoch can have.
std::int64_t largest_batch_tokens(const DataShape& data, const Settings& settings, std::int64_t max_length);

/// What the data gives to the plan: rows as tokenised, `batch_plan` of the first epoch.
DataShape data_shape(const std::vector<TokenRow>& train, const std::vector<TokenRow>& evaluation,
                     const Settings& settings, std::int64_t max_length);

/// max-length with "auto" resolved: min(1024, context).
std::int64_t resolved_max_length(const Settings& settings, const ModelSpec& spec);
/// Linear modules the settings adapt, by name within a layer; throws Error for a target the model lacks.
std::vector<LinearModule> adapted_modules(const ModelSpec& spec, const std::string& targets);
/// Parameters of the adapter.
std::int64_t adapter_parameters(const ModelSpec& spec, const Settings& settings);

}  // namespace lorikeet
