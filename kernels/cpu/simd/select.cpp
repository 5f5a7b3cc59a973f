// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/simd/select.h"

namespace lorikeet::simd {

namespace v2 {
extern const ElementKernels elements;
extern const OptimizerKernels optimizer;
extern const AttentionKernels attention;
}  // namespace v2
namespace avx2 {
extern const ElementKernels elements;
extern const OptimizerKernels optimizer;
extern const AttentionKernels attention;
}  // namespace avx2
namespace avx512 {
extern const ElementKernels elements;
extern const OptimizerKernels optimizer;
extern const AttentionKernels attention;
}  // namespace avx512
namespace avx512_bf16 {
extern const ElementKernels elements;
extern const OptimizerKernels optimizer;
extern const AttentionKernels attention;
}  // namespace avx512_bf16

Kernels kernels_for(Isa isa) {
  switch (isa) {
    case Isa::x86_64_v2:
      return {&v2::elements, &v2::optimizer, &v2::attention};
    case Isa::avx2:
      return {&avx2::elements, &avx2::optimizer, &avx2::attention};
    case Isa::avx512:
      return {&avx512::elements, &avx512::optimizer, &avx512::attention};
    case Isa::avx512_bf16:
      return {&avx512_bf16::elements, &avx512_bf16::optimizer, &avx512_bf16::attention};
  }
  return {&v2::elements, &v2::optimizer, &v2::attention};
}

}  // namespace lorikeet::simd
