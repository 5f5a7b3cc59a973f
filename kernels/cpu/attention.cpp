// SPDX-License-Identifier: Apache-2.0
// Causal attention with grouped keys over packed rows: p = softmax(scale * q k^T) within each sequence, out =
// p v. Backward (Dao et al. 2022): delta = rowsum(dout * out), dS = p * (dout v^T - delta), dq = scale * dS
// k, dk = scale * dS^T q, dv = p^T dout. Accumulates in f32.
#include <omp.h>

#include <algorithm>
#include <cmath>

#include "kernels/cpu/checks.h"
#include "kernels/cpu/cpu_backend.h"
#include "kernels/cpu/element.h"
#include "kernels/cpu/parallel.h"

namespace lorikeet {

namespace {

template <typename T>
float dot(const T* a, const T* b, std::int64_t count) {
  float sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += load(a[i]) * load(b[i]);
  return sum;
}

struct Sizes {
  std::int64_t heads, kv_heads, head_dim, window;
  float scale;
  std::int64_t q_stride() const { return heads * head_dim; }
  std::int64_t kv_stride() const { return kv_heads * head_dim; }
  std::int64_t first_key(std::int64_t query) const {
    return window > 0 ? std::max<std::int64_t>(0, query - window + 1) : 0;
  }
};

// One query of one head against keys [first, query] of its sequence; k and v point at the sequence's first
// row.
template <typename T>
float attend(const T* q, const T* k, const T* v, const Sizes& s, std::int64_t query, float* p, T* out) {
  const std::int64_t first = s.first_key(query);
  float largest = -INFINITY;
  for (std::int64_t j = first; j <= query; ++j) {
    p[j] = s.scale * dot(q, k + j * s.kv_stride(), s.head_dim);
    largest = std::max(largest, p[j]);
  }
  float sum = 0;
  for (std::int64_t j = first; j <= query; ++j) {
    p[j] = std::exp(p[j] - largest);
    sum += p[j];
  }
  for (std::int64_t i = 0; i < s.head_dim; ++i) {
    float value = 0;
    for (std::int64_t j = first; j <= query; ++j) value += p[j] * load(v[j * s.kv_stride() + i]);
    store(out[i], value / sum);
  }
  return largest + std::log(sum);
}

template <typename T>
struct Operands {
  const T *dout, *q, *k, *v, *out;
  const float* lse;
  T *dq, *dk, *dv;
};

template <typename T>
void backward_group(const Operands<T>& o, const Sizes& s, std::int64_t begin, std::int64_t length,
                    std::int64_t kv, float* dk, float* dv) {
  const std::int64_t d = s.head_dim;
  std::fill(dk, dk + length * d, 0.0f);
  std::fill(dv, dv + length * d, 0.0f);
  const T* k = o.k + begin * s.kv_stride() + kv * d;
  const T* v = o.v + begin * s.kv_stride() + kv * d;
  for (std::int64_t head = kv * (s.heads / s.kv_heads); head < (kv + 1) * (s.heads / s.kv_heads); ++head) {
    for (std::int64_t i = 0; i < length; ++i) {
      const std::int64_t at = (begin + i) * s.q_stride() + head * d;
      const float delta = dot(o.dout + at, o.out + at, d);
      const float lse = o.lse[(begin + i) * s.heads + head];
      float dq[1024] = {};
      for (std::int64_t j = s.first_key(i); j <= i; ++j) {
        const float p = std::exp(s.scale * dot(o.q + at, k + j * s.kv_stride(), d) - lse);
        const float ds = s.scale * p * (dot(o.dout + at, v + j * s.kv_stride(), d) - delta);
        for (std::int64_t c = 0; c < d; ++c) {
          dq[c] += ds * load(k[j * s.kv_stride() + c]);
          dk[j * d + c] += ds * load(o.q[at + c]);
          dv[j * d + c] += p * load(o.dout[at + c]);
        }
      }
      for (std::int64_t c = 0; c < d; ++c) store(o.dq[at + c], dq[c]);
    }
  }
  for (std::int64_t j = 0; j < length; ++j) {
    for (std::int64_t c = 0; c < d; ++c) {
      store(o.dk[(begin + j) * s.kv_stride() + kv * d + c], dk[j * d + c]);
      store(o.dv[(begin + j) * s.kv_stride() + kv * d + c], dv[j * d + c]);
    }
  }
}

Sizes check_shapes(const TensorView& q, const TensorView& k, const TensorView& v, const AttentionShape& shape,
                   const char* name) {
  check(shape.heads > 0 && shape.kv_heads > 0 && shape.heads % shape.kv_heads == 0, name,
        "heads is no multiple of kv_heads");
  check(shape.head_dim > 0 && shape.head_dim <= 1024, name, "head_dim is outside 1...1024");
  check(shape.window >= 0, name, "window is negative");
  check(q.shape.rank() == 2 && k.shape.rank() == 2, name, "q is (T,q), k and v are (T,kv)");
  check_compute(q, name, "q");
  const Sizes s{shape.heads, shape.kv_heads, shape.head_dim, shape.window, shape.scale};
  check_tensor(q, q.dtype, {q.shape[0], s.q_stride()}, name, "q");
  check_tensor(k, q.dtype, {k.shape[0], s.kv_stride()}, name, "k");
  check_tensor(v, q.dtype, k.shape, name, "v");
  return s;
}

void check_rows(const PackedRows& rows, std::int64_t tokens, const char* name) {
  check(rows.sequences >= 0, name, "sequences is negative");
  check_tensor(rows.cu_seqlens, DType::i32, {rows.sequences + 1}, name, "cu_seqlens");
  const std::int32_t* cu = rows.cu_seqlens.as<std::int32_t>();
  check(cu[0] == 0 && cu[rows.sequences] == tokens, name, "cu_seqlens does not cover all tokens");
  for (std::int64_t i = 0; i < rows.sequences; ++i) {
    check(cu[i] <= cu[i + 1] && cu[i + 1] - cu[i] <= rows.longest, name,
          "cu_seqlens falls or a row is above longest");
  }
}

}  // namespace

void CpuBackend::attention_forward(TensorView q, TensorView k, TensorView v, const PackedRows& rows,
                                   const AttentionShape& shape, TensorView out, TensorView lse) {
  constexpr const char* name = "attention_forward";
  const Sizes s = check_shapes(q, k, v, shape, name);
  check(k.shape[0] == q.shape[0], name, "q and k have different rows");
  check_tensor(out, q.dtype, q.shape, name, "out");
  check_tensor(lse, DType::f32, {q.shape[0], s.heads}, name, "lse");
  check_rows(rows, q.shape[0], name);
  float* scores = scratch_.floats(rows.longest * threads_);
  const std::int32_t* cu = rows.cu_seqlens.as<std::int32_t>();
  for_chunks(threads_, rows.sequences * s.heads, 1, [&](std::int64_t task, std::int64_t) {
    const std::int64_t begin = cu[task / s.heads];
    const std::int64_t head = task % s.heads;
    const std::int64_t kv_at = begin * s.kv_stride() + head / (s.heads / s.kv_heads) * s.head_dim;
    float* p = scores + omp_get_thread_num() * rows.longest;
    for (std::int64_t i = 0; i < cu[task / s.heads + 1] - begin; ++i) {
      const std::int64_t at = (begin + i) * s.q_stride() + head * s.head_dim;
      float& l = lse.as<float>()[(begin + i) * s.heads + head];
      if (q.dtype == DType::f32) {
        l = attend(q.as<float>() + at, k.as<float>() + kv_at, v.as<float>() + kv_at, s, i, p,
                   out.as<float>() + at);
      } else {
        l = attend(q.as<Bf16>() + at, k.as<Bf16>() + kv_at, v.as<Bf16>() + kv_at, s, i, p,
                   out.as<Bf16>() + at);
      }
    }
  });
}

void CpuBackend::attention_backward(TensorView dout, TensorView q, TensorView k, TensorView v, TensorView out,
                                    TensorView lse, const PackedRows& rows, const AttentionShape& shape,
                                    TensorView dq, TensorView dk, TensorView dv) {
  constexpr const char* name = "attention_backward";
  const Sizes s = check_shapes(q, k, v, shape, name);
  check(k.shape[0] == q.shape[0], name, "q and k have different rows");
  check_tensor(out, q.dtype, q.shape, name, "out");
  check_tensor(dout, q.dtype, q.shape, name, "dout");
  check_tensor(dq, q.dtype, q.shape, name, "dq");
  check_tensor(dk, q.dtype, k.shape, name, "dk");
  check_tensor(dv, q.dtype, k.shape, name, "dv");
  check_tensor(lse, DType::f32, {q.shape[0], s.heads}, name, "lse");
  check_rows(rows, q.shape[0], name);
  const std::int64_t panel = rows.longest * s.head_dim;
  float* sums = scratch_.floats(2 * panel * threads_);
  const std::int32_t* cu = rows.cu_seqlens.as<std::int32_t>();
  for_chunks(threads_, rows.sequences * s.kv_heads, 1, [&](std::int64_t task, std::int64_t) {
    const std::int64_t begin = cu[task / s.kv_heads];
    const std::int64_t length = cu[task / s.kv_heads + 1] - begin;
    float* sum_k = sums + 2 * panel * omp_get_thread_num();
    const auto run = [&]<typename T>() {
      const Operands<T> o{dout.as<T>(),    q.as<T>(),  k.as<T>(),  v.as<T>(), out.as<T>(),
                          lse.as<float>(), dq.as<T>(), dk.as<T>(), dv.as<T>()};
      backward_group(o, s, begin, length, task % s.kv_heads, sum_k, sum_k + panel);
    };
    if (q.dtype == DType::f32)
      run.operator()<float>();
    else
      run.operator()<Bf16>();
  });
}

void CpuBackend::attention_cached(TensorView q, TensorView k_cache, TensorView v_cache, std::int64_t position,
                                  const AttentionShape& shape, TensorView out) {
  constexpr const char* name = "attention_cached";
  const Sizes s = check_shapes(q, k_cache, v_cache, shape, name);
  check_tensor(out, q.dtype, q.shape, name, "out");
  const std::int64_t queries = q.shape[0];
  check(position >= 0 && position + queries <= k_cache.shape[0], name,
        "the cache has fewer rows than position + M");
  float* scores = scratch_.floats((position + queries) * threads_);
  for_chunks(threads_, queries * s.heads, 1, [&](std::int64_t task, std::int64_t) {
    const std::int64_t i = task / s.heads;
    const std::int64_t head = task % s.heads;
    const std::int64_t at = i * s.q_stride() + head * s.head_dim;
    const std::int64_t kv_at = head / (s.heads / s.kv_heads) * s.head_dim;
    float* p = scores + omp_get_thread_num() * (position + queries);
    if (q.dtype == DType::f32) {
      attend(q.as<float>() + at, k_cache.as<float>() + kv_at, v_cache.as<float>() + kv_at, s, position + i, p,
             out.as<float>() + at);
    } else {
      attend(q.as<Bf16>() + at, k_cache.as<Bf16>() + kv_at, v_cache.as<Bf16>() + kv_at, s, position + i, p,
             out.as<Bf16>() + at);
    }
  });
}

}  // namespace lorikeet
