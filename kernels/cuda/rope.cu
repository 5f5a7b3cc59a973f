// SPDX-License-Identifier: Apache-2.0
// RoPE (Su et al. 2021), half-split form: with d rotary dimensions, the pair (x[i], x[i + d/2]) of every head
// is turned in place by the angle whose cosine and sine are row positions[t] of the tables (P, d/2); the
// inverse turns back. q and k (T, heads, head_dim) may have gaps between tokens. For chat the same launch
// stores the turned k and v (M,kv) as rows positions[t] of the caches (C,kv). A position outside the tables
// or caches makes its token's q and k NaN and stores nothing. One block a token, f32 between load and store.
// Bytes: q and k read and written, v read, cache rows written.
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/launch.cuh"

namespace lorikeet::cuda {
namespace {

template <typename T>
struct RopeOperands {
  Rows<T> q, k;  ///< k's data is null when there is none
  int q_heads, k_heads, head_dim, half;
  const std::int32_t* positions;
  const float* cosine;
  const float* sine;
  std::int64_t limit;  ///< positions below it have a row in the tables (and caches)
  float sign;
  Rows<const T> v;  ///< from here on for chat only
  T* k_cache;
  T* v_cache;
};

/// Turns all heads of one token; `copy` gets the result too, or is null.
template <typename T, int N>
__device__ __forceinline__ void turn(T* row, int heads, const RopeOperands<T>& o, std::int64_t position,
                                     bool valid, T* copy) {
  const int per_head = o.half / N;
  const int units = heads * per_head;
  for (int unit = static_cast<int>(threadIdx.x); unit < units; unit += static_cast<int>(blockDim.x)) {
    const int head = unit / per_head;
    const int i = (unit - head * per_head) * N;
    const std::int64_t lower = static_cast<std::int64_t>(head) * o.head_dim + i;
    float a[N], b[N], c[N], s[N];
    load<N>(row + lower, a);
    load<N>(row + lower + o.half, b);
    if (valid) {
      load<N>(o.cosine + position * o.half + i, c);
      load<N>(o.sine + position * o.half + i, s);
    } else {
#pragma unroll
      for (int j = 0; j < N; ++j) c[j] = s[j] = nanf("");
    }
#pragma unroll
    for (int j = 0; j < N; ++j) {
      const float sine = s[j] * o.sign;
      const float first = a[j] * c[j] - b[j] * sine;
      b[j] = b[j] * c[j] + a[j] * sine;
      a[j] = first;
    }
    store<N>(row + lower, a);
    store<N>(row + lower + o.half, b);
    if (copy != nullptr) {
      store<N>(copy + lower, a);
      store<N>(copy + lower + o.half, b);
    }
  }
}

template <typename T, int N, bool append>
__global__ void __launch_bounds__(256, 3) rope_kernel(const RopeOperands<T> o) {
  const std::int64_t token = blockIdx.x;
  const std::int64_t position = o.positions[token];
  const bool valid = position >= 0 && position < o.limit;
  turn<T, N>(o.q.at(token, 0), o.q_heads, o, position, valid, nullptr);
  if (o.k.data == nullptr) return;
  T* const k = o.k.at(token, 0);
  const std::int64_t width = static_cast<std::int64_t>(o.k_heads) * o.head_dim;
  T* const k_row = append && valid ? o.k_cache + position * width : nullptr;
  turn<T, N>(k, o.k_heads, o, position, valid, k_row);
  if (!append || !valid) return;
  T* const v_row = o.v_cache + position * width;
  for (std::int64_t i = threadIdx.x * N; i < width; i += blockDim.x * N) {
    *reinterpret_cast<Pack<T, N>*>(v_row + i) = *reinterpret_cast<const Pack<T, N>*>(o.v.at(token, i));
  }
  const int rest = o.head_dim - 2 * o.half;  // dimensions that are not turned
  for (int unit = static_cast<int>(threadIdx.x); unit < o.k_heads * rest;
       unit += static_cast<int>(blockDim.x)) {
    const std::int64_t i = static_cast<std::int64_t>(unit / rest) * o.head_dim + 2 * o.half + unit % rest;
    k_row[i] = k[i];
  }
}

/// Operands in common; checks them. `k` may be empty.
struct RopeCall {
  TensorView q, k, positions, cosine, sine;
  const char* name;

  void check_operands(const CudaBackend& backend) const {
    check(q.shape.rank() == 3, name, "x is (T,heads,head_dim)");
    check(cosine.shape.rank() == 2, name, "cosine is (P,d/2)");
    check_compute(backend, q, name, "x is of no compute type");
    check(2 * cosine.shape[1] <= q.shape[2], name, "more rotary dimensions than head_dim");
    check_rows(q, q.dtype, q.shape, name, "q");
    if (k) {
      check(k.shape.rank() == 3, name, "k is (T,kv_heads,head_dim)");
      check_rows(k, q.dtype, {q.shape[0], k.shape[1], q.shape[2]}, name, "k");
    }
    check_tensor(cosine, DType::f32, cosine.shape, name, "cosine");
    check_tensor(sine, DType::f32, cosine.shape, name, "sine");
    check_tensor(positions, DType::i32, {q.shape[0]}, name, "positions");
  }

  bool is_vector(int lanes) const {
    return cosine.shape[1] % lanes == 0 && q.shape[2] % lanes == 0 && is_aligned({q, k, cosine, sine});
  }

  template <typename T>
  RopeOperands<T> operands(bool inverse) const {
    RopeOperands<T> o{};
    o.q = rows_of<T>(q);
    o.q_heads = static_cast<int>(q.shape[1]);
    if (k) o.k = rows_of<T>(k);
    if (k) o.k_heads = static_cast<int>(k.shape[1]);
    o.head_dim = static_cast<int>(q.shape[2]);
    o.half = static_cast<int>(cosine.shape[1]);
    o.positions = positions.as<std::int32_t>();
    o.cosine = cosine.as<float>();
    o.sine = sine.as<float>();
    o.limit = cosine.shape[0];
    o.sign = inverse ? -1.0f : 1.0f;
    return o;
  }

  template <typename T, int N, bool append>
  void start(cudaStream_t stream, const RopeOperands<T>& o) const {
    const std::int64_t units = static_cast<std::int64_t>(std::max(o.q_heads, o.k_heads)) * o.half / N;
    launch(stream, name, rope_kernel<T, N, append>, dim3(static_cast<unsigned>(q.shape[0])),
           row_threads(units), 0, o);
  }

  void run(const CudaBackend& backend, bool inverse) const {
    check_operands(backend);
    if (cosine.shape[1] == 0) return;
    with_compute_type(q.dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      const RopeOperands<T> o = operands<T>(inverse);
      if (is_vector(lanes_of<T>)) return start<T, lanes_of<T>, false>(backend.stream(), o);
      start<T, 1, false>(backend.stream(), o);
    });
  }
};

}  // namespace

void CudaBackend::rope(TensorView x, TensorView positions, TensorView cosine, TensorView sine, bool inverse) {
  RopeCall{x, {}, positions, cosine, sine, "rope"}.run(*this, inverse);
}

void CudaBackend::rope_pair(TensorView q, TensorView k, TensorView positions, TensorView cosine,
                            TensorView sine, bool inverse) {
  check(k.shape.rank() == 3, "rope_pair", "k is (T,kv_heads,head_dim)");
  RopeCall{q, k, positions, cosine, sine, "rope_pair"}.run(*this, inverse);
}

void CudaBackend::rope_append(TensorView q, TensorView k, TensorView v, TensorView positions,
                              TensorView cosine, TensorView sine, TensorView k_cache, TensorView v_cache) {
  constexpr const char* name = "rope_append";
  check(k.shape.rank() == 3 && k_cache.shape.rank() == 2, name,
        "k is (M,kv_heads,head_dim), the cache (C,kv)");
  const RopeCall call{q, k, positions, cosine, sine, name};
  call.check_operands(*this);
  const std::int64_t width = k.columns();
  check_rows(k, q.dtype, {q.shape[0], k.shape[1], q.shape[2]}, name, "k");
  check_rows(v, k.dtype, {k.shape[0], width}, name, "v");
  check_tensor(k_cache, k.dtype, {k_cache.shape[0], width}, name, "k_cache");
  check_tensor(v_cache, k.dtype, k_cache.shape, name, "v_cache");
  with_compute_type(q.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    RopeOperands<T> o = call.operands<T>(false);
    o.limit = std::min(o.limit, k_cache.shape[0]);
    o.v = rows_of<const T>(v);
    o.k_cache = k_cache.as<T>();
    o.v_cache = v_cache.as<T>();
    if (call.is_vector(lanes_of<T>) && width % lanes_of<T> == 0 && is_aligned({v, k_cache, v_cache}))
      return call.start<T, lanes_of<T>, true>(stream(), o);
    call.start<T, 1, true>(stream(), o);
  });
}

}  // namespace lorikeet::cuda
