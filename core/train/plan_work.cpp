// SPDX-License-Identifier: Apache-2.0
#include "core/train/plan_work.h"

#include <algorithm>
#include <initializer_list>

#include "core/model/session_plan.h"

namespace lorikeet {
namespace {

std::int64_t divide_up(std::int64_t value, std::int64_t by) {
  return (value + by - 1) / by;
}
std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return divide_up(value, multiple) * multiple;
}

/// Bytes of a number of the type that the CPU multiplies.
std::int64_t product_bytes(const PlanDevice& device) {
  return device.widens_products ? 4 : device.compute_bytes;
}

/// Scratch of the CUDA back end: the weights of one linear group with their branches beside and below them, a
/// chunk of logits, and what cuBLASLt and sums over parts of the rows work in (kernels/cuda/linear_*.cpp,
/// head.cu).
void add_cuda_scratch(MemoryPlan& memory, const ModelSpec& spec, const PlanDevice& device,
                      const ActivationShape& shape, bool drops) {
  const std::int64_t query = spec.heads * spec.head_dim, key = spec.kv_heads * spec.head_dim;
  const auto& r = shape.ranks;
  const auto group = [&](std::int64_t out, std::int64_t in, std::int64_t ranks) {
    constexpr std::int64_t slack = 32;  // rows are padded to 16 elements, their tails to 8
    return std::max(out * (in + ranks + slack) + ranks * in, (out + ranks + slack) * in + ranks * out);
  };
  const std::int64_t largest =
      std::max({group(query + 2 * key, spec.hidden_size, r[q_proj] + r[k_proj] + r[v_proj]),
                group(spec.hidden_size, query, r[o_proj]),
                group(2 * spec.intermediate_size, spec.hidden_size, r[gate_proj] + r[up_proj]),
                group(spec.hidden_size, spec.intermediate_size, r[down_proj])});
  memory.dequantization = static_cast<std::uint64_t>(largest) * size_of(shape.compute);
  constexpr std::int64_t chunk_bytes = 64 << 20, row_multiple = 16, loss_bytes = 32;
  const std::int64_t row_bytes = 4 * (spec.vocab_size + 7);
  const std::int64_t rows =
      std::min(shape.most_tokens + row_multiple, std::max(row_multiple, chunk_bytes / row_bytes));
  memory.logits = static_cast<std::uint64_t>(rows * row_bytes + shape.most_tokens * loss_bytes);
  const bool small_workspace = device.compute_capability > 0 && device.compute_capability < 90;
  const std::uint64_t library = (small_workspace ? 8u : 32u) << 20;
  constexpr std::uint64_t sums = 16u << 20;
  memory.workspace = library + sums;
  if (drops) {
    // Copies of a group's input, one for each branch that reads it.
    const auto copies = [&](std::int64_t in, std::initializer_list<Linear> branches) {
      return in * std::count_if(branches.begin(), branches.end(), [&](Linear which) { return r[which] > 0; });
    };
    const std::int64_t widest = std::max(
        {copies(spec.hidden_size, {q_proj, k_proj, v_proj}), copies(query, {o_proj}),
         copies(spec.hidden_size, {gate_proj, up_proj}), copies(spec.intermediate_size, {down_proj})});
    memory.workspace += static_cast<std::uint64_t>(shape.tokens * widest) * size_of(shape.compute);
  }
}

/// What lies beside the back end. Measured on glibc 2.36 and oneDNN 2.6: the program, 270 bytes a token of
/// the vocabulary (pieces, merges and their tables), ids and targets of all rows, code that oneDNN generated
/// for the products that are kept (kernels/cpu/gemm.cpp), and the copy of the optimiser's state while a
/// checkpoint is written.
std::uint64_t host_bytes(const MemoryPlan& memory, const ModelSpec& spec, const DataShape& data,
                         const PlanDevice& device) {
  constexpr std::int64_t program = 3 << 20, of_token = 270, of_row = 160, of_thread = 1 << 18;
  constexpr std::int64_t kept_products = 256, of_product = 55 << 10;
  const std::int64_t rows = (data.rows + data.evaluation_rows) * of_row;
  const std::int64_t ids = (data.tokens + data.evaluation_tokens) * 8;
  const std::int64_t generated = device.is_cuda ? 0 : kept_products * of_product;
  return static_cast<std::uint64_t>(program + spec.vocab_size * of_token + rows + ids + generated +
                                    device.threads * of_thread) +
         memory.optimizer;
}

}  // namespace

std::uint64_t cpu_linear_work(const ModelSpec& spec, const Settings& settings, const PlanDevice& device,
                              std::int64_t tokens) {
  constexpr std::int64_t tile_bytes = 192 * 192 * 4;
  const std::int64_t size = product_bytes(device);
  const bool copies_rows = device.widens_products;                     // 16-bit rows as f32
  const bool copies_factors = size == 2 || device.compute_bytes == 2;  // f32 masters, rounded
  const bool direct = settings.quantization == "none" && !device.widens_products;
  const auto panel = [&](std::int64_t depth, std::int64_t extent) {
    if (direct) return std::int64_t{0};
    const bool wide = divide_up(tokens, 256) * divide_up(extent, 128) >= 32;
    return depth * std::min<std::int64_t>(extent, wide ? 128 : 64) * size;
  };
  std::int64_t largest = 0;
  const auto adapted = adapted_modules(spec, settings.targets);
  for (const auto& module : linear_modules(spec)) {
    const bool has_branch = std::any_of(adapted.begin(), adapted.end(),
                                        [&](const LinearModule& one) { return one.name == module.name; });
    const std::int64_t rank = has_branch ? settings.rank : 0;
    const std::int64_t factors = (copies_factors ? module.in + module.out : module.out) * rank * size;
    const std::int64_t narrow = tokens * rank * size;
    // What a branch with dropout reads instead of its input.
    const std::int64_t dropped = settings.dropout != 0 && rank > 0 ? tokens * module.in * size : 0;
    const std::int64_t forward = (copies_rows ? tokens * module.in * size + narrow : 0) + factors +
                                 device.threads * (tile_bytes + panel(module.in, module.out));
    const std::int64_t backward =
        (copies_rows ? tokens * (module.out + (rank > 0 ? module.in : 0)) * size + narrow : 0) + factors +
        narrow + device.threads * (tile_bytes + panel(module.out, module.in));
    largest = std::max({largest, forward + dropped, backward + dropped});
  }
  return static_cast<std::uint64_t>(largest);
}

std::uint64_t cpu_head_work(const ModelSpec& spec, const PlanDevice& device, std::int64_t rows) {
  constexpr std::int64_t chunk_rows = 1024, block_rows = 256, tile_columns = 128, units = 16;
  constexpr std::int64_t state_bytes = 24, loss_bytes = 16;
  const std::int64_t size = product_bytes(device), width = spec.hidden_size;
  rows = std::clamp<std::int64_t>(rows, 1, chunk_rows);
  const std::int64_t blocks = divide_up(rows, block_rows), tiles = divide_up(spec.vocab_size, tile_columns);
  const std::int64_t segment = divide_up(tiles, std::max<std::int64_t>(1, units / blocks)) * tile_columns;
  const std::int64_t segments = divide_up(spec.vocab_size, segment);
  const std::int64_t of_unit_row = width * 4 + state_bytes;  // only rows that are there are touched
  const std::int64_t of_thread = block_rows * tile_columns * (4 + size) + tile_columns * width * size;
  const std::int64_t copied = device.widens_products ? rows * width * size : 0;
  return static_cast<std::uint64_t>(copied + segments * rows * of_unit_row + rows * loss_bytes +
                                    device.threads * of_thread);
}

std::uint64_t cpu_attention_work(const ModelSpec& spec, const PlanDevice& device, std::int64_t tokens) {
  constexpr std::int64_t workspace = 256 << 10, row_multiple = 16;
  const std::int64_t width = round_up(spec.head_dim, 16), rows = round_up(tokens, row_multiple);
  const std::int64_t packed = rows * width * product_bytes(device);  // pairs of 16-bit numbers, or f32
  return static_cast<std::uint64_t>(3 * spec.kv_heads * packed + 2 * spec.heads * rows * width * 4 +
                                    device.threads * workspace);
}

void add_work(MemoryPlan& memory, const ModelSpec& spec, const DataShape& data, const Settings& settings,
              const PlanDevice& device, const ActivationShape& shape) {
  if (device.is_cuda) {
    add_cuda_scratch(memory, spec, device, shape, settings.dropout != 0);
  } else {
    // The linear layers and the head share one buffer, which keeps the size of the larger.
    const std::uint64_t linear = cpu_linear_work(spec, settings, device, shape.most_tokens);
    const std::uint64_t head = cpu_head_work(spec, device, shape.most_tokens);
    memory.dequantization = linear;
    memory.logits = head > linear ? head - linear : 0;
    constexpr std::uint64_t library = 1 << 20;  // oneDNN's own scratch
    memory.workspace = cpu_attention_work(spec, device, shape.most_tokens) + library;
  }
  if (!settings.sample_prompts.empty()) {
    const std::int64_t context = data.sample_tokens > 0 ? data.sample_tokens : sample_context(spec);
    memory.samples = session_bytes(spec, {context, shape.compute, shape.ranks, shape.device, shape.dora});
  }
  memory.host_is_apart = device.is_cuda;
  memory.host = host_bytes(memory, spec, data, device);
}

}  // namespace lorikeet
