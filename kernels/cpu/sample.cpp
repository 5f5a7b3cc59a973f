// SPDX-License-Identifier: Apache-2.0
// The next token of a chat: see kernels/sampling.h.
#include "kernels/sampling.h"

#include "kernels/cpu/checks.h"
#include "kernels/cpu/cpu_backend.h"

namespace lorikeet {

void CpuBackend::sample(TensorView logits, TensorView recent, const SamplingRule& rule, double uniform,
                        TensorView id) {
  constexpr const char* name = "sample";
  check_tensor(logits, DType::f32, {logits.elements()}, name, "logits");
  check_tensor(recent, DType::i32, {recent.shape[0]}, name, "recent");
  check_tensor(id, DType::i32, {1}, name, "id");
  *id.as<std::int32_t>() =
      draw_token({logits.as<float>(), static_cast<std::size_t>(logits.elements())},
                 {recent.as<std::int32_t>(), static_cast<std::size_t>(recent.elements())}, rule, uniform);
}

}  // namespace lorikeet
