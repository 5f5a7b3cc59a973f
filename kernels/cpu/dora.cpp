// SPDX-License-Identifier: Apache-2.0
// Magnitude and direction (DoRA, Liu et al. 2024): y = g o (W x + s B A x) + bias, g = m / n, n_j = ||W_j + s
// B_j A||. Norms: rows of W as stored are expanded to f32 sixteen at a time, the product s B A is added to
// them, squares are summed in f64. Scaling: f32 between load and store. Gradient of m: sum_t dy o z / n over
// the rows in one order, f32 over 64 rows, f64 over those sums.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "kernels/cpu/checks.h"
#include "kernels/cpu/cpu_backend.h"
#include "kernels/cpu/linear_engine.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/simd/select.h"
#include "kernels/weight_checks.h"

namespace lorikeet {

namespace {

constexpr std::int64_t norm_rows = 16;     // expanded at once
constexpr std::int64_t sum_columns = 256;  // of one task of the gradient
constexpr std::int64_t sum_rows = 64;      // summed in f32

}  // namespace

void LinearEngine::row_norms(const Weight& weight, const LoraTerm* lora, TensorView norms) {
  const std::int64_t width = weight.in, rank = lora ? lora->a.rows() : 0;
  const WeightPanels panels(kernels_, weight, DType::f32, DType::f32);
  Layout layout;
  const std::int64_t rows_bytes = layout.take(norm_rows * width * 4),
                     factor_bytes = layout.take(norm_rows * rank * 4);
  const std::int64_t each = layout.bytes();
  char* memory = static_cast<char*>(scratch_.get(each * team_.threads()));
  const std::int64_t last = weight.out % norm_rows;
  const auto product = [&](std::int64_t rows) {
    return gemm_.prepare({rows, width, rank, rank, width, width, false, false, true, DType::f32});
  };
  const Gemm::Handle whole = lora ? product(norm_rows) : nullptr,
                     rest = lora && last > 0 ? product(last) : nullptr;
  const auto sum_of_squares = simd::kernels_for(isa_).optimizer->sum_of_squares;
  team_.run(Team::worth(weight.out * width * (rank + 1)), [&](int thread) {
    float* values = reinterpret_cast<float*>(memory + thread * each + rows_bytes);
    float* factor = reinterpret_cast<float*>(memory + thread * each + factor_bytes);
    team_.share(0, (weight.out + norm_rows - 1) / norm_rows, [&](std::int64_t task) {
      const std::int64_t first = task * norm_rows, count = std::min(norm_rows, weight.out - first);
      const Panel panel = panels.rows(first, count, values);
      if (lora) {
        if (panel.data != values)
          std::memcpy(values, panel.data, static_cast<std::size_t>(count * width) * sizeof(float));
        kernels_.scale_f32(lora->b.as<float>() + first * rank, lora->scale, factor, count * rank);
        gemm_.run(count == norm_rows ? *whole : *rest, thread, factor, lora->a.data, values);
      }
      const float* rows = lora ? values : static_cast<const float*>(panel.data);
      for (std::int64_t i = 0; i < count; ++i)
        norms.as<float>()[first + i] = static_cast<float>(std::sqrt(sum_of_squares(rows + i * width, width)));
    });
  });
  gemm_.check();
}

void LinearEngine::expand_rows(const Weight& weight, std::int64_t first, TensorView rows) {
  const WeightPanels panels(kernels_, weight, DType::f32, DType::f32);
  const std::int64_t width = weight.in, count = rows.rows();
  team_.run(Team::worth(count * width), [&](int) {
    team_.share(0, (count + norm_rows - 1) / norm_rows, [&](std::int64_t task) {
      const std::int64_t begin = task * norm_rows, some = std::min(norm_rows, count - begin);
      float* to = rows.as<float>() + begin * width;
      const Panel panel = panels.rows(first + begin, some, to);
      if (panel.data != to)
        std::memcpy(to, panel.data, static_cast<std::size_t>(some * width) * sizeof(float));
    });
  });
}

void CpuBackend::row_norms(const Weight& weight, const LoraTerm* lora, TensorView norms, TensorView magnitude,
                           TensorView gain) {
  constexpr const char* name = "row_norms";
  check_stored_weight(weight, name);
  check_row_norms(weight, lora, norms, magnitude, gain, name);
  linear().engine.row_norms(weight, lora, norms);
  for (std::int64_t i = 0; gain && i < weight.out; ++i) {
    const float n = norms.as<float>()[i];
    gain.as<float>()[i] = n == 0 ? 0 : magnitude.as<float>()[i] / n;
  }
}

void CpuBackend::dequantize_rows(const Weight& weight, std::int64_t first, TensorView rows) {
  constexpr const char* name = "dequantize_rows";
  check_stored_weight(weight, name);
  check_tensor(rows, DType::f32, {rows.rows(), weight.in}, name, "rows");
  check(first >= 0 && first + rows.rows() <= weight.out, name, "the weight has no such rows");
  linear().engine.expand_rows(weight, first, rows);
}

void CpuBackend::scale_columns(TensorView z, TensorView gain, TensorView bias, TensorView residual,
                               TensorView y) {
  constexpr const char* name = "scale_columns";
  check_compute(z, name, "z");
  check(z.shape.rank() == 2, name, "z is not a matrix");
  check_tensor(z, z.dtype, z.shape, name, "z");
  check_tensor(gain, DType::f32, {z.columns()}, name, "gain");
  if (bias) check_tensor(bias, DType::f32, {z.columns()}, name, "bias");
  if (residual) check_tensor(residual, z.dtype, z.shape, name, "residual");
  check_tensor(y, z.dtype, z.shape, name, "y");
  const std::int64_t width = z.columns();
  const auto scale = simd_.elements->scale_columns[type_index(z.dtype)];
  for_chunks(threads_, z.rows(), row_chunk(width), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) {
      scale(element_at(z, row * width), gain.as<float>(), bias.as<float>(),
            residual ? element_at(residual, row * width) : nullptr, element_at(y, row * width), width);
    }
  });
}

void CpuBackend::scale_columns_backward(TensorView dy, TensorView z, TensorView gain, TensorView norms,
                                        TensorView gradient, TensorView dz) {
  constexpr const char* name = "scale_columns_backward";
  check_compute(dy, name, "dy");
  check(dy.shape.rank() == 2, name, "dy is not a matrix");
  check_tensor(dy, dy.dtype, dy.shape, name, "dy");
  check_tensor(z, dy.dtype, dy.shape, name, "z");
  check_tensor(dz, dy.dtype, dy.shape, name, "dz");
  for (const TensorView& vector : {gain, norms, gradient})
    check_tensor(vector, DType::f32, {dy.columns()}, name, "gain, norms or gradient");
  const std::int64_t width = dy.columns(), rows = dy.rows();
  const auto scale = simd_.elements->scale_columns_backward[type_index(dy.dtype)];
  for_chunks(threads_, width, sum_columns, [&](std::int64_t first, std::int64_t last) {
    std::array<double, sum_columns> totals{};
    const std::int64_t count = last - first;
    for (std::int64_t row = 0; row < rows; row += sum_rows) {
      std::array<float, sum_columns> sums{};
      for (std::int64_t i = row; i < std::min(rows, row + sum_rows); ++i) {
        const std::int64_t at = i * width + first;
        scale(element_at(dy, at), element_at(z, at), gain.as<float>() + first, sums.data(),
              element_at(dz, at), count);
      }
      for (std::size_t i = 0; i < sum_columns; ++i) totals[i] += static_cast<double>(sums[i]);
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const float n = norms.as<float>()[first + i];
      if (n != 0)
        gradient.as<float>()[first + i] += static_cast<float>(totals[static_cast<std::size_t>(i)] / n);
    }
  });
}

}  // namespace lorikeet
