// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/reference.h"

#include <algorithm>
#include <cmath>

namespace lorikeet::reference {

namespace {

std::size_t at(std::int64_t index) {
  return static_cast<std::size_t>(index);
}
std::int64_t length(const Values& values) {
  return static_cast<std::int64_t>(values.size());
}

}  // namespace

Values embedding_forward(const Values& table, const Indices& ids, std::int64_t width) {
  return gather_rows(table, ids, width);
}

Values embedding_backward(const Values& dy, const Indices& ids, std::int64_t width, Values table_grad) {
  for (std::size_t t = 0; t < ids.size(); ++t) {
    for (std::int64_t i = 0; i < width; ++i) {
      table_grad[at(ids[t] * width + i)] += dy[t * at(width) + at(i)];
    }
  }
  return table_grad;
}

Values gather_rows(const Values& from, const Indices& rows, std::int64_t width) {
  Values to;
  for (const std::int32_t row : rows) {
    to.insert(to.end(), from.begin() + row * width, from.begin() + (row + 1) * width);
  }
  return to;
}

Values scatter_rows(const Values& from, const Indices& rows, std::int64_t width, std::int64_t rows_out) {
  Values to(at(rows_out * width), 0.0);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::copy_n(from.begin() + static_cast<std::int64_t>(r) * width, width, to.begin() + rows[r] * width);
  }
  return to;
}

Norm rms_norm_forward(const Values& x, const Values& weight, double epsilon) {
  const std::size_t width = weight.size();
  Norm norm{Values(x.size()), Values(x.size() / width)};
  for (std::size_t t = 0; t < norm.rstd.size(); ++t) {
    double sum = 0;
    for (std::size_t i = 0; i < width; ++i) sum += x[t * width + i] * x[t * width + i];
    norm.rstd[t] = 1 / std::sqrt(sum / static_cast<double>(width) + epsilon);
    for (std::size_t i = 0; i < width; ++i)
      norm.y[t * width + i] = x[t * width + i] * norm.rstd[t] * weight[i];
  }
  return norm;
}

Values rms_norm_backward(const Values& dy, const Values& x, const Values& weight, double epsilon) {
  const std::size_t width = weight.size();
  const Values rstd = rms_norm_forward(x, weight, epsilon).rstd;
  Values dx(x.size());
  for (std::size_t t = 0; t < rstd.size(); ++t) {
    double mean = 0;
    for (std::size_t i = 0; i < width; ++i)
      mean += dy[t * width + i] * weight[i] * x[t * width + i] * rstd[t];
    mean /= static_cast<double>(width);
    for (std::size_t i = 0; i < width; ++i) {
      dx[t * width + i] = rstd[t] * (dy[t * width + i] * weight[i] - x[t * width + i] * rstd[t] * mean);
    }
  }
  return dx;
}

LayerNorm layer_norm_forward(const Values& x, const Values& weight, const Values& bias, double epsilon) {
  const std::size_t width = weight.size();
  const std::size_t rows = x.size() / width;
  LayerNorm norm{Values(x.size()), Values(rows), Values(rows)};
  for (std::size_t t = 0; t < rows; ++t) {
    const double* from = &x[t * width];
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < width; ++i) sum += from[i];
    norm.mean[t] = sum / static_cast<double>(width);
    for (std::size_t i = 0; i < width; ++i) squares += (from[i] - norm.mean[t]) * (from[i] - norm.mean[t]);
    norm.rstd[t] = 1 / std::sqrt(squares / static_cast<double>(width) + epsilon);
    for (std::size_t i = 0; i < width; ++i)
      norm.y[t * width + i] = (from[i] - norm.mean[t]) * norm.rstd[t] * weight[i] + bias[i];
  }
  return norm;
}

Values layer_norm_backward(const Values& dy, const Values& x, const Values& weight, double epsilon) {
  const std::size_t width = weight.size();
  const LayerNorm norm = layer_norm_forward(x, weight, Values(width, 0.0), epsilon);
  Values dx(x.size());
  for (std::size_t t = 0; t < norm.rstd.size(); ++t) {
    const auto g = [&](std::size_t i) { return dy[t * width + i] * weight[i]; };
    const auto n = [&](std::size_t i) { return (x[t * width + i] - norm.mean[t]) * norm.rstd[t]; };
    double mean_g = 0, mean_gn = 0;
    for (std::size_t i = 0; i < width; ++i) {
      mean_g += g(i) / static_cast<double>(width);
      mean_gn += g(i) * n(i) / static_cast<double>(width);
    }
    for (std::size_t i = 0; i < width; ++i)
      dx[t * width + i] = norm.rstd[t] * (g(i) - mean_g - n(i) * mean_gn);
  }
  return dx;
}

Values rope(Values x, const Indices& positions, const Values& cosine, const Values& sine, std::int64_t heads,
            std::int64_t head_dim, std::int64_t half, bool inverse) {
  for (std::size_t t = 0; t < positions.size(); ++t) {
    for (std::int64_t head = 0; head < heads; ++head) {
      double* row = &x[(t * at(heads) + at(head)) * at(head_dim)];
      for (std::int64_t i = 0; i < half; ++i) {
        const double c = cosine[at(positions[t] * half + i)];
        const double s = sine[at(positions[t] * half + i)] * (inverse ? -1 : 1);
        const double first = row[i];
        const double second = row[i + half];
        row[i] = first * c - second * s;
        row[i + half] = first * s + second * c;
      }
    }
  }
  return x;
}

namespace {

/// Probabilities of one query (row `query` of a sequence that starts at row `begin`) over keys 0 ... query; 0
/// outside the window. Returns the logarithm of the denominator; `scores`, when not null, gets the scores.
double probabilities(const double* q, const Values& k, std::int64_t begin, std::int64_t query,
                     std::int64_t kv_head, const AttentionSizes& s, Values& p, Values* scores = nullptr) {
  if (scores != nullptr) scores->clear();
  p.assign(at(query + 1), 0.0);
  double largest = -INFINITY;
  const auto visible = [&](std::int64_t j) { return s.window == 0 || query - j < s.window; };
  for (std::int64_t j = 0; j <= query; ++j) {
    if (!visible(j)) {
      if (scores != nullptr) scores->push_back(0);
      continue;
    }
    for (std::int64_t i = 0; i < s.head_dim; ++i) {
      p[at(j)] += q[i] * k[at(((begin + j) * s.kv_heads + kv_head) * s.head_dim + i)];
    }
    p[at(j)] *= s.scale;
    if (s.soft_cap > 0) p[at(j)] = s.soft_cap * std::tanh(p[at(j)] / s.soft_cap);
    if (scores != nullptr) scores->push_back(p[at(j)]);
    largest = std::max(largest, p[at(j)]);
  }
  double sum = 0;
  for (std::int64_t j = 0; j <= query; ++j) {
    p[at(j)] = visible(j) ? std::exp(p[at(j)] - largest) : 0;
    sum += p[at(j)];
  }
  for (double& value : p) value /= sum;
  return largest + std::log(sum);
}

}  // namespace

Attention attention_forward(const Values& q, const Values& k, const Values& v, const Indices& cu_seqlens,
                            const AttentionSizes& s) {
  Attention result{Values(q.size(), 0.0), Values(q.size() / at(s.head_dim))};
  Values p;
  for (std::size_t row = 0; row + 1 < cu_seqlens.size(); ++row) {
    const std::int64_t begin = cu_seqlens[row];
    for (std::int64_t t = begin; t < cu_seqlens[row + 1]; ++t) {
      for (std::int64_t head = 0; head < s.heads; ++head) {
        const std::int64_t kv_head = head / (s.heads / s.kv_heads);
        const std::int64_t q_at = (t * s.heads + head) * s.head_dim;
        result.lse[at(t * s.heads + head)] = probabilities(&q[at(q_at)], k, begin, t - begin, kv_head, s, p);
        for (std::int64_t j = 0; j <= t - begin; ++j) {
          for (std::int64_t i = 0; i < s.head_dim; ++i) {
            result.out[at(q_at + i)] +=
                p[at(j)] * v[at(((begin + j) * s.kv_heads + kv_head) * s.head_dim + i)];
          }
        }
      }
    }
  }
  return result;
}

AttentionGradients attention_backward(const Values& dout, const Values& q, const Values& k, const Values& v,
                                      const Indices& cu_seqlens, const AttentionSizes& s) {
  AttentionGradients g{Values(q.size(), 0.0), Values(k.size(), 0.0), Values(v.size(), 0.0)};
  Values p;
  Values dp;
  Values scores;
  for (std::size_t row = 0; row + 1 < cu_seqlens.size(); ++row) {
    const std::int64_t begin = cu_seqlens[row];
    for (std::int64_t t = begin; t < cu_seqlens[row + 1]; ++t) {
      for (std::int64_t head = 0; head < s.heads; ++head) {
        const std::int64_t kv_head = head / (s.heads / s.kv_heads);
        const std::int64_t q_at = (t * s.heads + head) * s.head_dim;
        probabilities(&q[at(q_at)], k, begin, t - begin, kv_head, s, p, &scores);
        dp.assign(p.size(), 0.0);
        double mean = 0;
        for (std::size_t j = 0; j < p.size(); ++j) {
          const std::int64_t kv_at =
              ((begin + static_cast<std::int64_t>(j)) * s.kv_heads + kv_head) * s.head_dim;
          for (std::int64_t i = 0; i < s.head_dim; ++i) {
            dp[j] += dout[at(q_at + i)] * v[at(kv_at + i)];
            g.dv[at(kv_at + i)] += p[j] * dout[at(q_at + i)];
          }
          mean += p[j] * dp[j];
        }
        for (std::size_t j = 0; j < p.size(); ++j) {
          const std::int64_t kv_at =
              ((begin + static_cast<std::int64_t>(j)) * s.kv_heads + kv_head) * s.head_dim;
          // d/dx cap tanh(x / cap) = 1 - tanh^2.
          const double slope = s.soft_cap > 0 ? 1 - scores[j] * scores[j] / (s.soft_cap * s.soft_cap) : 1;
          const double ds = s.scale * slope * p[j] * (dp[j] - mean);
          for (std::int64_t i = 0; i < s.head_dim; ++i) {
            g.dq[at(q_at + i)] += ds * k[at(kv_at + i)];
            g.dk[at(kv_at + i)] += ds * q[at(q_at + i)];
          }
        }
      }
    }
  }
  return g;
}

Values attention_cached(const Values& q, const Values& k_cache, const Values& v_cache, std::int64_t position,
                        const AttentionSizes& s) {
  // The same as the last queries of one sequence of all rows.
  const std::int64_t q_row = s.heads * s.head_dim;
  const std::int64_t kv_row = s.kv_heads * s.head_dim;
  const std::int64_t total = position + length(q) / q_row;
  Values all(at(total * q_row), 0.0);
  std::copy(q.begin(), q.end(), all.begin() + position * q_row);
  const Values k(k_cache.begin(), k_cache.begin() + total * kv_row);
  const Values v(v_cache.begin(), v_cache.begin() + total * kv_row);
  const Values out = attention_forward(all, k, v, {0, static_cast<std::int32_t>(total)}, s).out;
  return Values(out.begin() + position * q_row, out.end());
}

namespace {

/// A function's value and derivative.
struct Slope {
  double value, slope;
};
Slope silu(double x) {
  const double s = 1 / (1 + std::exp(-x));
  return {x * s, s + x * s * (1 - s)};
}
Slope gelu(double x) {
  const double root = std::sqrt(2 / std::acos(-1.0));
  const double t = std::tanh(root * (x + 0.044715 * x * x * x));
  return {0.5 * x * (1 + t), 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * root * (1 + 3 * 0.044715 * x * x)};
}

}  // namespace

Values glu_forward(const Values& gate, const Values& up, bool is_gelu) {
  Values h(gate.size());
  for (std::size_t i = 0; i < h.size(); ++i) h[i] = (is_gelu ? gelu(gate[i]) : silu(gate[i])).value * up[i];
  return h;
}

GluGradients glu_backward(const Values& dh, const Values& gate, const Values& up, bool is_gelu) {
  GluGradients g{Values(dh.size()), Values(dh.size())};
  for (std::size_t i = 0; i < dh.size(); ++i) {
    const Slope f = is_gelu ? gelu(gate[i]) : silu(gate[i]);
    g.dgate[i] = dh[i] * up[i] * f.slope;
    g.dup[i] = dh[i] * f.value;
  }
  return g;
}

Values gelu_forward(const Values& x) {
  Values y;
  for (const double value : x) y.push_back(gelu(value).value);
  return y;
}

Values gelu_backward(const Values& dy, const Values& x) {
  Values dx;
  for (std::size_t i = 0; i < x.size(); ++i) dx.push_back(dy[i] * gelu(x[i]).slope);
  return dx;
}

}  // namespace lorikeet::reference
