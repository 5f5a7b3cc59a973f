// SPDX-License-Identifier: Apache-2.0
// Element and row loops; the formulas are in glu.cpp, gelu.cpp, dora.cpp, rms_norm.cpp, layer_norm.cpp and
// rope.cpp one folder up. f32 between load and store. Compiled once per instruction set.
#include "kernels/cpu/simd/table.h"
#include "kernels/cpu/simd/vec.h"

namespace {

template <typename T>
const T* in(const void* data) {
  return static_cast<const T*>(data);
}
template <typename T>
T* out(void* data) {
  return static_cast<T*>(data);
}

void widen(const std::uint16_t* from, float* to, std::int64_t n) {
  for_each_vector(n, [&](auto i) { i.store(to, i.load(reinterpret_cast<const Bf16*>(from))); });
}

void narrow(const float* from, std::uint16_t* to, std::int64_t n) {
  for_each_vector(n, [&](auto i) { i.store(reinterpret_cast<Bf16*>(to), i.load(from)); });
}

template <typename T>
void add(void* to, const void* from, std::int64_t n) {
  for_each_vector(n, [&](auto i) { i.store(out<T>(to), i.load(in<T>(to)) + i.load(in<T>(from))); });
}

template <typename T>
void scale_columns(const void* z, const float* gain, const float* bias, const void* residual, void* y,
                   std::int64_t n) {
  for_each_vector(n, [&](auto i) {
    Vec value = i.load(in<T>(z)) * i.load(gain);
    if (bias != nullptr) value += i.load(bias);
    if (residual != nullptr) value += i.load(in<T>(residual));
    i.store(out<T>(y), value);
  });
}

template <typename T>
void scale_columns_backward(const void* dy, const void* z, const float* gain, float* sums, void* dz,
                            std::int64_t n) {
  for_each_vector(n, [&](auto i) {
    const Vec d = i.load(in<T>(dy));
    i.store(sums, i.load(sums) + d * i.load(in<T>(z)));
    i.store(out<T>(dz), d * i.load(gain));
  });
}

LORIKEET_INLINE Vec sigmoid(Vec x) {
  return 1.0f / (1.0f + vec_exp(-x));
}

template <typename T>
void swiglu(const void* gate, const void* up, void* h, std::int64_t n) {
  for_each_vector(n, [&](auto i) {
    const Vec g = i.load(in<T>(gate));
    i.store(out<T>(h), g * sigmoid(g) * i.load(in<T>(up)));
  });
}

template <typename T>
void glu_backward(const void* dh, const void* gate, const void* up, void* dgate, void* dup, void* h,
                  std::int64_t n) {
  for_each_vector(n, [&](auto i) {
    const Vec g = i.load(in<T>(gate));
    const Vec u = i.load(in<T>(up));
    const Vec d = i.load(in<T>(dh));
    const Vec s = sigmoid(g);
    const Vec silu = g * s;
    i.store(out<T>(dgate), d * u * (s * (1.0f + (g - silu))));
    i.store(out<T>(dup), d * silu);
    if (h != nullptr) i.store(out<T>(h), silu * u);
  });
}

/// GELU's tanh form and its derivative. Beyond |x| = 20 the function is 0 or x, so the polynomial needs no
/// more.
struct Slope {
  Vec value, slope;
};
LORIKEET_INLINE Slope gelu_slope(Vec x) {
  constexpr float twice_root = 1.5957691216057308f;  // 2 sqrt(2/pi)
  constexpr float cubic = 0.044715f;
  const Vec above = vec_max(splat(-20.0f), x);  // in this order NaN stays NaN
  const Vec c = vec_min(splat(20.0f), above);
  const Vec square = c * c;
  const Vec s = sigmoid((c + c * square * cubic) * twice_root);
  const Vec value = above * s;
  return {value, s + value * (1.0f - s) * ((1.0f + square * (3.0f * cubic)) * twice_root)};
}

template <typename T>
void geglu(const void* gate, const void* up, void* h, std::int64_t n) {
  for_each_vector(
      n, [&](auto i) { i.store(out<T>(h), gelu_slope(i.load(in<T>(gate))).value * i.load(in<T>(up))); });
}

template <typename T>
void geglu_backward(const void* dh, const void* gate, const void* up, void* dgate, void* dup, void* h,
                    std::int64_t n) {
  for_each_vector(n, [&](auto i) {
    const Slope f = gelu_slope(i.load(in<T>(gate)));
    const Vec u = i.load(in<T>(up));
    const Vec d = i.load(in<T>(dh));
    i.store(out<T>(dgate), d * u * f.slope);
    i.store(out<T>(dup), d * f.value);
    if (h != nullptr) i.store(out<T>(h), f.value * u);
  });
}

template <typename T>
void gelu(const void* x, void* y, std::int64_t n) {
  for_each_vector(n, [&](auto i) { i.store(out<T>(y), gelu_slope(i.load(in<T>(x))).value); });
}

template <typename T>
void gelu_backward(const void* dy, const void* x, void* dx, std::int64_t n) {
  for_each_vector(
      n, [&](auto i) { i.store(out<T>(dx), i.load(in<T>(dy)) * gelu_slope(i.load(in<T>(x))).slope); });
}

void soft_cap(float* x, float cap, std::int64_t n) {
  const float narrowing = 1.0f / cap;
  for_each_vector(n, [&](auto i) { i.store(x, vec_tanh(i.load(x) * narrowing) * cap); });
}

template <typename T>
void soft_cap_backward(void* gradient, const float* y, float cap, std::int64_t n) {
  const float narrowing = 1.0f / cap;
  for_each_vector(n, [&](auto i) {
    const Vec ratio = i.load(y) * narrowing;
    i.store(out<T>(gradient), i.load(in<T>(gradient)) * (1.0f - ratio * ratio));
  });
}

template <typename T>
void rms_norm(const void* x, const float* weight, float epsilon, std::int64_t rows, std::int64_t width,
              void* y, float* rstd) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const T* from = in<T>(x) + row * width;
    T* to = out<T>(y) + row * width;
    Vec sum{};
    for_each_vector(width, [&](auto i) {
      const Vec value = i.load(from);
      sum += value * value;
    });
    const float scale = 1.0f / __builtin_sqrtf(sum_of_lanes(sum) / static_cast<float>(width) + epsilon);
    rstd[row] = scale;
    for_each_vector(width,
                    [&](auto i) { i.store(to, rounded_to(to, i.load(from) * scale) * i.load(weight)); });
  }
}

template <typename T>
void rms_norm_backward(const void* dy, const void* x, const float* weight, const float* rstd,
                       std::int64_t rows, std::int64_t width, void* dx, bool accumulate) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const T* gradient = in<T>(dy) + row * width;
    const T* from = in<T>(x) + row * width;
    T* to = out<T>(dx) + row * width;
    const float scale = rstd[row];
    Vec sum{};
    for_each_vector(width, [&](auto i) { sum += i.load(gradient) * i.load(weight) * i.load(from); });
    const float mean = sum_of_lanes(sum) * scale * scale / static_cast<float>(width);
    for_each_vector(width, [&](auto i) {
      Vec value = (i.load(gradient) * i.load(weight) - i.load(from) * mean) * scale;
      if (accumulate) value += i.load(to);
      i.store(to, value);
    });
  }
}

template <typename T>
void rms_norm_plus(const void* x, const float* weight, float epsilon, std::int64_t rows, std::int64_t width,
                   void* y, float* rstd) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const T* from = in<T>(x) + row * width;
    T* to = out<T>(y) + row * width;
    Vec sum{};
    for_each_vector(width, [&](auto i) {
      const Vec value = i.load(from);
      sum += value * value;
    });
    const float scale = 1.0f / __builtin_sqrtf(sum_of_lanes(sum) / static_cast<float>(width) + epsilon);
    rstd[row] = scale;
    for_each_vector(width, [&](auto i) { i.store(to, i.load(from) * scale * (1.0f + i.load(weight))); });
  }
}

template <typename T>
void rms_norm_plus_backward(const void* dy, const void* x, const float* weight, const float* rstd,
                            std::int64_t rows, std::int64_t width, void* dx, bool accumulate) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const T* gradient = in<T>(dy) + row * width;
    const T* from = in<T>(x) + row * width;
    T* to = out<T>(dx) + row * width;
    const float scale = rstd[row];
    Vec sum{};
    for_each_vector(width, [&](auto i) { sum += i.load(gradient) * (1.0f + i.load(weight)) * i.load(from); });
    const float mean = sum_of_lanes(sum) * scale * scale / static_cast<float>(width);
    for_each_vector(width, [&](auto i) {
      Vec value = (i.load(gradient) * (1.0f + i.load(weight)) - i.load(from) * mean) * scale;
      if (accumulate) value += i.load(to);
      i.store(to, value);
    });
  }
}

template <typename T>
void layer_norm(const void* x, const float* weight, const float* bias, float epsilon, std::int64_t rows,
                std::int64_t width, void* y, float* mean, float* rstd) {
  const auto count = static_cast<float>(width);
  for (std::int64_t row = 0; row < rows; ++row) {
    const T* from = in<T>(x) + row * width;
    T* to = out<T>(y) + row * width;
    Vec sum{};
    for_each_vector(width, [&](auto i) { sum += i.load(from); });
    const float middle = sum_of_lanes(sum) / count;
    Vec squares{};
    for_each_vector(width, [&](auto i) {
      const Vec value = i.keep(i.load(from) - middle);
      squares += value * value;
    });
    const float scale = 1.0f / __builtin_sqrtf(sum_of_lanes(squares) / count + epsilon);
    mean[row] = middle;
    rstd[row] = scale;
    for_each_vector(
        width, [&](auto i) { i.store(to, (i.load(from) - middle) * scale * i.load(weight) + i.load(bias)); });
  }
}

template <typename T>
void layer_norm_backward(const void* dy, const void* x, const float* weight, const float* mean,
                         const float* rstd, std::int64_t rows, std::int64_t width, void* dx,
                         bool accumulate) {
  const auto count = static_cast<float>(width);
  for (std::int64_t row = 0; row < rows; ++row) {
    const T* gradient = in<T>(dy) + row * width;
    const T* from = in<T>(x) + row * width;
    T* to = out<T>(dx) + row * width;
    const float middle = mean[row];
    const float scale = rstd[row];
    Vec sum{};
    Vec product{};
    for_each_vector(width, [&](auto i) {
      const Vec g = i.load(gradient) * i.load(weight);  // zero past the end
      sum += g;
      product += g * (i.load(from) - middle);
    });
    const float mean_g = sum_of_lanes(sum) / count;
    const float mean_gn = sum_of_lanes(product) * scale * scale / count;
    for_each_vector(width, [&](auto i) {
      const Vec g = i.load(gradient) * i.load(weight);
      Vec value = (g - mean_g - (i.load(from) - middle) * mean_gn) * scale;
      if (accumulate) value += i.load(to);
      i.store(to, value);
    });
  }
}

template <typename T>
void rope(void* x, const float* cosine, const float* sine, std::int64_t heads, std::int64_t head_dim,
          std::int64_t half, float sign) {
  for (std::int64_t head = 0; head < heads; ++head) {
    T* lower = out<T>(x) + head * head_dim;
    T* upper = lower + half;
    for_each_vector(half, [&](auto i) {
      const Vec c = i.load(cosine);
      const Vec s = i.load(sine) * sign;
      const Vec first = i.load(lower);
      const Vec second = i.load(upper);
      i.store(lower, first * c - second * s);
      i.store(upper, second * c + first * s);
    });
  }
}

}  // namespace

namespace lorikeet::simd::LORIKEET_ISA {

extern const ElementKernels elements;
const ElementKernels elements = {widen,
                                 narrow,
                                 {add<float>, add<Bf16>},
                                 {swiglu<float>, swiglu<Bf16>},
                                 {glu_backward<float>, glu_backward<Bf16>},
                                 {geglu<float>, geglu<Bf16>},
                                 {geglu_backward<float>, geglu_backward<Bf16>},
                                 {gelu<float>, gelu<Bf16>},
                                 {gelu_backward<float>, gelu_backward<Bf16>},
                                 soft_cap,
                                 {soft_cap_backward<float>, soft_cap_backward<Bf16>},
                                 {scale_columns<float>, scale_columns<Bf16>},
                                 {scale_columns_backward<float>, scale_columns_backward<Bf16>},
                                 {rms_norm<float>, rms_norm<Bf16>},
                                 {rms_norm_backward<float>, rms_norm_backward<Bf16>},
                                 {rms_norm_plus<float>, rms_norm_plus<Bf16>},
                                 {rms_norm_plus_backward<float>, rms_norm_plus_backward<Bf16>},
                                 {layer_norm<float>, layer_norm<Bf16>},
                                 {layer_norm_backward<float>, layer_norm_backward<Bf16>},
                                 {rope<float>, rope<Bf16>}};

}  // namespace lorikeet::simd::LORIKEET_ISA
