// SPDX-License-Identifier: Apache-2.0
// Linear layers, head and loss, optimisers.
#include <algorithm>
#include <cmath>

#include "kernels/dynamic_map.h"
#include "tests/kernels/reference.h"

namespace lorikeet::reference {

namespace {

std::size_t at(std::int64_t index) {
  return static_cast<std::size_t>(index);
}
std::int64_t length(const Values& values) {
  return static_cast<std::int64_t>(values.size());
}

/// c (m,n) += scale * a (m,k) b, where element (k,n) of b is b[k * k_stride + n * n_stride], and likewise for
/// a.
struct Strided {
  const Values& values;
  std::int64_t row_stride, column_stride;
  double operator()(std::int64_t row, std::int64_t column) const {
    return values[at(row * row_stride + column * column_stride)];
  }
};

void multiply_add(Values& c, const Strided& a, const Strided& b, std::int64_t m, std::int64_t n,
                  std::int64_t k, double scale) {
  for (std::int64_t row = 0; row < m; ++row) {
    for (std::int64_t column = 0; column < n; ++column) {
      double sum = 0;
      for (std::int64_t i = 0; i < k; ++i) sum += a(row, i) * b(i, column);
      c[at(row * n + column)] += scale * sum;
    }
  }
}

/// What the branch reads of x, or what x gets of the branch's gradient.
Values dropped(Values values, const Lora& lora) {
  for (std::size_t i = 0; i < lora.mask.size(); ++i) values[i] *= lora.mask[i];
  return values;
}

}  // namespace

Linear linear_forward(const Values& x, const Values& w, const Values& bias, const std::vector<Lora>& branches,
                      const LinearSizes& s) {
  Linear result;
  result.y.assign(at(s.rows * s.out), 0.0);
  multiply_add(result.y, {x, s.in, 1}, {w, 1, s.in}, s.rows, s.out, s.in, 1);
  if (!bias.empty()) {
    for (std::int64_t i = 0; i < s.rows * s.out; ++i) result.y[at(i)] += bias[at(i % s.out)];
  }
  for (const Lora& lora : branches) {
    Values xa(at(s.rows * lora.rank), 0.0);
    const Values read = dropped(x, lora);
    multiply_add(xa, {read, s.in, 1}, {lora.a, 1, s.in}, s.rows, lora.rank, s.in, 1);
    multiply_add(result.y, {xa, lora.rank, 1}, {lora.b, 1, lora.rank}, s.rows, s.out, lora.rank, lora.scale);
    result.xa.push_back(xa);
  }
  return result;
}

LinearGradients linear_backward(const Values& dy, const Values& x, const Values& w, const Lora* lora,
                                const LinearSizes& s) {
  LinearGradients g;
  g.dx.assign(at(s.rows * s.in), 0.0);
  multiply_add(g.dx, {dy, s.out, 1}, {w, s.in, 1}, s.rows, s.in, s.out, 1);
  if (lora == nullptr) return g;
  const std::int64_t r = lora->rank;
  Values xa(at(s.rows * r), 0.0);
  const Values read = dropped(x, *lora);
  multiply_add(xa, {read, s.in, 1}, {lora->a, 1, s.in}, s.rows, r, s.in, 1);
  Values u(at(s.rows * r), 0.0);
  multiply_add(u, {dy, s.out, 1}, {lora->b, r, 1}, s.rows, r, s.out, lora->scale);
  Values through(at(s.rows * s.in), 0.0);
  multiply_add(through, {u, r, 1}, {lora->a, s.in, 1}, s.rows, s.in, r, 1);
  through = dropped(std::move(through), *lora);
  for (std::size_t i = 0; i < through.size(); ++i) g.dx[i] += through[i];
  g.da.assign(at(r * s.in), 0.0);
  multiply_add(g.da, {u, 1, r}, {read, s.in, 1}, r, s.in, s.rows, 1);
  g.db.assign(at(s.out * r), 0.0);
  multiply_add(g.db, {dy, 1, s.out}, {xa, r, 1}, s.out, r, s.rows, lora->scale);
  return g;
}

Values row_norms(const Values& w, const Lora* lora, std::int64_t out, std::int64_t in) {
  Values sum = w, norms(at(out), 0.0);
  if (lora != nullptr)
    multiply_add(sum, {lora->b, lora->rank, 1}, {lora->a, in, 1}, out, in, lora->rank, lora->scale);
  for (std::size_t i = 0; i < sum.size(); ++i) norms[i / at(in)] += sum[i] * sum[i];
  for (double& norm : norms) norm = std::sqrt(norm);
  return norms;
}

Values scale_columns(const Values& z, const Values& gain, const Values& bias, const Values& residual) {
  Values y(z.size());
  for (std::size_t i = 0; i < z.size(); ++i) {
    y[i] = z[i] * gain[i % gain.size()];
    if (!bias.empty()) y[i] += bias[i % gain.size()];
    if (!residual.empty()) y[i] += residual[i];
  }
  return y;
}

ColumnGradients scale_columns_backward(const Values& dy, const Values& z, const Values& gain,
                                       const Values& norms) {
  ColumnGradients g{Values(gain.size(), 0.0), Values(z.size())};
  for (std::size_t i = 0; i < z.size(); ++i) {
    const std::size_t column = i % gain.size();
    if (norms[column] != 0) g.gradient[column] += dy[i] * z[i] / norms[column];
    g.dz[i] = dy[i] * gain[column];
  }
  return g;
}

Values head_logits(const Values& h, const Values& head, std::int64_t width, double soft_cap,
                   const Values& bias) {
  const std::int64_t rows = length(h) / width;
  const std::int64_t vocabulary = length(head) / width;
  Values logits(at(rows * vocabulary), 0.0);
  multiply_add(logits, {h, width, 1}, {head, 1, width}, rows, vocabulary, width, 1);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (!bias.empty()) logits[i] += bias[i % bias.size()];
    if (soft_cap > 0) logits[i] = soft_cap * std::tanh(logits[i] / soft_cap);
  }
  return logits;
}

CrossEntropy head_cross_entropy(const Values& h, const Values& head, const Indices& targets,
                                double grad_scale, std::int64_t width, double soft_cap, const Values& bias) {
  const std::int64_t vocabulary = length(head) / width;
  Values logits = head_logits(h, head, width, soft_cap, bias);
  CrossEntropy result;
  for (std::size_t r = 0; r < targets.size(); ++r) {
    double* row = &logits[r * at(vocabulary)];
    const double* largest = std::max_element(row, row + vocabulary);
    const double top = *largest;
    if (largest - row == targets[r]) result.correct += 1;
    double sum = 0;
    for (std::int64_t i = 0; i < vocabulary; ++i) sum += std::exp(row[i] - top);
    result.loss += std::log(sum) + top - row[targets[r]];
    for (std::int64_t i = 0; i < vocabulary; ++i) {
      const double slope = soft_cap > 0 ? 1 - row[i] * row[i] / (soft_cap * soft_cap) : 1;
      row[i] = (std::exp(row[i] - top) / sum - (i == targets[r] ? 1 : 0)) * slope;
    }
  }
  result.dh.assign(h.size(), 0.0);
  multiply_add(result.dh, {logits, vocabulary, 1}, {head, width, 1}, length(h) / width, width, vocabulary,
               grad_scale);
  return result;
}

double sum_of_squares(const Values& x) {
  double sum = 0;
  for (const double value : x) sum += value * value;
  return sum;
}

void adamw(Values& p, const Values& gradient, Values& m, Values& v, const Adam& adam) {
  const double correction1 = 1 - std::pow(adam.beta1, static_cast<double>(adam.step));
  const double correction2 = 1 - std::pow(adam.beta2, static_cast<double>(adam.step));
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double g = gradient[i] * adam.gradient_scale;
    p[i] *= 1 - adam.learning_rate * adam.weight_decay;
    m[i] = adam.beta1 * m[i] + (1 - adam.beta1) * g;
    v[i] = adam.beta2 * v[i] + (1 - adam.beta2) * g * g;
    p[i] -= adam.learning_rate * (m[i] / correction1) / (std::sqrt(v[i] / correction2) + adam.epsilon);
  }
}

namespace {

/// Nearest entry by looking at all of them; `nearness` gets the distance to the edge between it and its
/// neighbours.
std::uint8_t nearest(const DynamicMap& map, double value, double& nearness) {
  std::size_t best = 0;
  double second_distance = INFINITY;
  for (std::size_t i = 1; i < map.size(); ++i) {
    const double distance = std::fabs(value - static_cast<double>(map[i]));
    const double best_distance = std::fabs(value - static_cast<double>(map[best]));
    second_distance = std::min(second_distance, std::max(distance, best_distance));
    if (distance < best_distance) best = i;
  }
  nearness = std::min(nearness, (second_distance - std::fabs(value - static_cast<double>(map[best]))) / 2);
  return static_cast<std::uint8_t>(best);
}

}  // namespace

void adamw_8bit(Values& p, const Values& gradient, Adam8bit& state, const Adam& adam, Values* nearness) {
  constexpr std::size_t block = 256;
  const double correction1 = 1 - std::pow(adam.beta1, static_cast<double>(adam.step));
  const double correction2 = std::sqrt(1 - std::pow(adam.beta2, static_cast<double>(adam.step)));
  if (nearness != nullptr) nearness->assign(p.size(), INFINITY);
  for (std::size_t begin = 0; begin < p.size(); begin += block) {
    const std::size_t end = std::min(p.size(), begin + block);
    double& m_absmax = state.m_absmax[begin / block];
    double& v_absmax = state.v_absmax[begin / block];
    Values m(block, 0.0);
    Values v(block, 0.0);
    for (std::size_t i = begin; i < end; ++i) {
      const double g = gradient[i] * adam.gradient_scale;
      if (!std::isfinite(g)) continue;
      m[i - begin] = adam.beta1 * static_cast<double>(signed_dynamic_map()[state.m_codes[i]]) * m_absmax +
                     (1 - adam.beta1) * g;
      v[i - begin] = adam.beta2 * static_cast<double>(unsigned_dynamic_map()[state.v_codes[i]]) * v_absmax +
                     (1 - adam.beta2) * g * g;
      p[i] -= adam.learning_rate * correction2 / correction1 * m[i - begin] /
              (std::sqrt(v[i - begin]) + adam.epsilon * correction2);
      p[i] *= 1 - adam.learning_rate * adam.weight_decay;
    }
    m_absmax = 0;
    v_absmax = 0;
    for (std::size_t i = 0; i < block; ++i) {
      m_absmax = std::max(m_absmax, std::fabs(m[i]));
      v_absmax = std::max(v_absmax, v[i]);
    }
    for (std::size_t i = begin; i < end; ++i) {
      double near = INFINITY;
      const double mi = m[i - begin];
      std::uint8_t code = nearest(signed_dynamic_map(), m_absmax > 0 ? mi / m_absmax : 0, near);
      if (code == 127 && mi < 0) code = 126;  // a rounded moment keeps its sign
      state.m_codes[i] = code;
      state.v_codes[i] = nearest(unsigned_dynamic_map(), v_absmax > 0 ? v[i - begin] / v_absmax : 0, near);
      if (nearness != nullptr) (*nearness)[i] = near;
    }
  }
}

}  // namespace lorikeet::reference
