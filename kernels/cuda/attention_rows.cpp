// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/attention_rows.h"

#include <cmath>
#include <string>

#include "kernels/base/error.h"
#include "kernels/checks.h"
#include "kernels/cuda/cuda_backend.h"

namespace lorikeet::cuda {

bool rows_in_vectors(std::initializer_list<TensorView> views, std::int64_t head_dim) {
  for (const TensorView& view : views) {
    const auto in_vectors = [&](std::int64_t elements) {
      return elements * static_cast<std::int64_t>(size_of(view.dtype)) % 16 == 0;
    };
    if (reinterpret_cast<std::uintptr_t>(view.data) % 16 != 0 || !in_vectors(view.stride()) ||
        !in_vectors(head_dim))
      return false;
  }
  return true;
}

void check_attention_rows(const CudaBackend& backend, const TensorView& q, const TensorView& k,
                          const TensorView& v, const AttentionShape& shape, const char* operation) {
  check(shape.heads > 0 && shape.kv_heads > 0 && shape.heads % shape.kv_heads == 0, operation,
        "heads is no multiple of kv_heads");
  check(shape.head_dim > 0, operation, "head_dim is not positive");
  check(shape.window >= 0, operation, "window is negative");
  check(shape.soft_cap >= 0 && std::isfinite(shape.soft_cap), operation, "the soft cap is not a number >= 0");
  check(shape.scale > 0 && std::isfinite(shape.scale), operation, "scale is not a positive number");
  check(q.shape.rank() == 2 && k.shape.rank() == 2, operation, "q is (T,q), k and v are (T,kv)");
  check(backend.supports(q.dtype), operation, "q has no compute type of this device");
  check_rows(q, q.dtype, {q.shape[0], shape.heads * shape.head_dim}, operation, "q");
  check_rows(k, q.dtype, {k.shape[0], shape.kv_heads * shape.head_dim}, operation, "k");
  check_rows(v, q.dtype, k.shape, operation, "v");
  const std::int64_t group = shape.heads / shape.kv_heads;
  if (shape.head_dim > 256)
    throw Error(ErrorCode::unsupported,
                std::string(operation) + ": head_dim above 256 is not built for CUDA");
  check(q.shape[0] * group * group < (std::int64_t{1} << 31), operation, "too many tokens at once");
}

void check_packed_rows(const PackedRows& rows, std::int64_t tokens, const AttentionShape&,
                       const char* operation) {
  check(rows.sequences > 0 || (rows.sequences == 0 && tokens == 0), operation,
        "there are tokens but no sequence");
  check_tensor(rows.cu_seqlens, DType::i32, {rows.sequences + 1}, operation, "cu_seqlens");
}

}  // namespace lorikeet::cuda
