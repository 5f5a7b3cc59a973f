// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/linear_kernels.h"

namespace lorikeet {

extern const LinearKernels linear_kernels_x86_64_v2;
extern const LinearKernels linear_kernels_avx2;
extern const LinearKernels linear_kernels_avx512;
extern const LinearKernels linear_kernels_avx512_bf16;

const LinearKernels& linear_kernels(Isa isa) {
  switch (isa) {
    case Isa::x86_64_v2:
      return linear_kernels_x86_64_v2;
    case Isa::avx2:
      return linear_kernels_avx2;
    case Isa::avx512:
      return linear_kernels_avx512;
    case Isa::avx512_bf16:
      return linear_kernels_avx512_bf16;
  }
  return linear_kernels_x86_64_v2;
}

}  // namespace lorikeet
