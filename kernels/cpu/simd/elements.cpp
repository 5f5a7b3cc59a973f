// SPDX-License-Identifier: Apache-2.0
// Element and row loops; the formulas are in swiglu.cpp, rms_norm.cpp and rope.cpp one folder up. f32 between
// load and store. Compiled once per instruction set.
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
                                 {rms_norm<float>, rms_norm<Bf16>},
                                 {rms_norm_backward<float>, rms_norm_backward<Bf16>},
                                 {rope<float>, rope<Bf16>}};

}  // namespace lorikeet::simd::LORIKEET_ISA
