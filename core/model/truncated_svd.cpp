// SPDX-License-Identifier: Apache-2.0
// With rows of Q (l,in) orthonormal: Y (l,out) = Q M^T, then Q = orthonormal(orthonormal(Y) M), a few times.
// At the end M ~ Y^T Q, and the eigenvectors W of Y Y^T (l,l) turn its rows into singular vectors: sigma_i^2
// = eigenvalue i, v_i = W_i Q, u_i = W_i Y / sigma_i. What is left of |M|^2 is |M|^2 - sum of sigma_i^2.
#include "core/model/truncated_svd.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/backend.h"
#include "kernels/base/random.h"

namespace lorikeet {
namespace {

constexpr std::int64_t oversampling = 16;
constexpr int most_iterations = 8;
constexpr double settled = 1e-4;  ///< share of |M|^2 by which a further iteration may still gain

/// Rows of equal length.
struct Rows {
  std::int64_t count = 0, length = 0;
  std::vector<double> values;
  double* row(std::int64_t i) { return values.data() + i * length; }
  const double* row(std::int64_t i) const { return values.data() + i * length; }
};

double dot(const double* a, const double* b, std::int64_t n) {
  return std::inner_product(a, a + n, b, 0.0);
}

/// Modified Gram-Schmidt, twice over; a row that depends on those before becomes zero.
void orthonormalise(Rows& rows) {
  for (std::int64_t i = 0; i < rows.count; ++i) {
    double* row = rows.row(i);
    const double before = std::sqrt(dot(row, row, rows.length));
    for (int pass = 0; pass < 2; ++pass) {
      for (std::int64_t j = 0; j < i; ++j) {
        const double* other = rows.row(j);
        const double share = dot(row, other, rows.length);
        for (std::int64_t k = 0; k < rows.length; ++k) row[k] -= share * other[k];
      }
    }
    const double norm = std::sqrt(dot(row, row, rows.length));
    const double scale = norm > 1e-6 * before ? 1 / norm : 0;
    for (std::int64_t k = 0; k < rows.length; ++k) row[k] *= scale;
  }
}

/// Products with the matrix, which stays on its device.
class Products {
 public:
  Products(Backend& backend, const Weight& matrix, std::int64_t rows)
      : backend_(backend),
        matrix_(matrix),
        narrow_(backend.allocate({rows, matrix.in}, DType::f32)),
        wide_(backend.allocate({rows, matrix.out}, DType::f32)) {}

  /// (l,out) = rows (l,in) M^T
  Rows by_rows(const Rows& rows) {
    upload(rows, narrow_);
    backend_.linear_forward(narrow_, matrix_, {}, wide_, Write::overwrite);
    return download(wide_);
  }
  /// (l,in) = rows (l,out) M
  Rows by_columns(const Rows& rows) {
    upload(rows, wide_);
    backend_.linear_backward(wide_, {}, matrix_, nullptr, nullptr, narrow_, Write::overwrite);
    return download(narrow_);
  }
  double squares() {
    const Tensor sum = backend_.allocate({1}, DType::f64);
    backend_.fill_zero(sum);
    backend_.sum_of_squares(matrix_.values.view().reshaped({matrix_.out * matrix_.in}), sum);
    double value = 0;
    backend_.download(&value, sum);
    return value;
  }

 private:
  void upload(const Rows& rows, const TensorView& to) {
    const std::vector<float> values(rows.values.begin(), rows.values.end());
    backend_.upload(to, values.data());
  }
  Rows download(const TensorView& from) {
    std::vector<float> values(static_cast<std::size_t>(from.elements()));
    backend_.download(values.data(), from);
    return {from.rows(), from.columns(), {values.begin(), values.end()}};
  }

  Backend& backend_;
  const Weight& matrix_;
  Tensor narrow_, wide_;
};

/// Row i of the result: sum over j of weights[i][j] * rows[j].
std::vector<double> combined(const std::vector<double>& weights, std::int64_t i, const Rows& rows) {
  std::vector<double> sum(static_cast<std::size_t>(rows.length), 0.0);
  for (std::int64_t j = 0; j < rows.count; ++j) {
    const double weight = weights[static_cast<std::size_t>(i * rows.count + j)];
    for (std::int64_t k = 0; k < rows.length; ++k)
      sum[static_cast<std::size_t>(k)] += weight * rows.row(j)[k];
  }
  return sum;
}

/// Eigenvalues and eigenvectors of Y Y^T.
void gram_eigen(const Rows& y, std::vector<double>& values, std::vector<double>& vectors) {
  std::vector<double> gram(static_cast<std::size_t>(y.count * y.count));
  for (std::int64_t i = 0; i < y.count; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) {
      const double product = dot(y.row(i), y.row(j), y.length);
      gram[static_cast<std::size_t>(i * y.count + j)] = gram[static_cast<std::size_t>(j * y.count + i)] =
          product;
    }
  }
  symmetric_eigen(std::move(gram), y.count, values, vectors);
}

TruncatedSvd factors_of(const Rows& q, const Rows& y, std::int64_t rank, const std::vector<double>& values,
                        const std::vector<double>& vectors) {
  TruncatedSvd svd;
  svd.b.assign(static_cast<std::size_t>(y.length * rank), 0.0);
  for (std::int64_t i = 0; i < rank; ++i) {
    const double sigma = std::sqrt(std::max(0.0, values[static_cast<std::size_t>(i)]));
    svd.singular.push_back(sigma);
    const double root = std::sqrt(sigma);
    for (const double v : combined(vectors, i, q)) svd.a.push_back(root * v);
    if (sigma <= 1e-12 * svd.singular.front()) continue;
    const std::vector<double> u = combined(vectors, i, y);
    for (std::int64_t j = 0; j < y.length; ++j)
      svd.b[static_cast<std::size_t>(j * rank + i)] = u[static_cast<std::size_t>(j)] / root;
  }
  return svd;
}

}  // namespace

TruncatedSvd truncated_svd(Backend& backend, const Weight& matrix, std::int64_t rank, std::uint64_t seed,
                           const std::function<void()>& between) {
  const std::int64_t width = std::min(rank + oversampling, std::min(matrix.out, matrix.in));
  Products products(backend, matrix, width);
  Rows q{width, matrix.in, std::vector<double>(static_cast<std::size_t>(width * matrix.in))};
  RandomStream random({.seed = seed, .use = RandomUse::lora_init});
  for (double& value : q.values) value = random.next_normal();
  orthonormalise(q);
  const double squares = products.squares();
  Rows y;
  std::vector<double> values, vectors;
  double captured = -1;
  for (int i = 0;; ++i) {
    if (between) between();
    y = products.by_rows(q);
    gram_eigen(y, values, vectors);
    double now = 0;
    for (std::int64_t r = 0; r < rank; ++r) now += std::max(0.0, values[static_cast<std::size_t>(r)]);
    const bool enough = now - captured <= settled * squares;
    captured = now;
    if (enough || i == most_iterations) break;
    if (between) between();
    Rows basis = y;
    orthonormalise(basis);
    q = products.by_columns(basis);
    orthonormalise(q);
  }
  TruncatedSvd svd = factors_of(q, y, rank, values, vectors);
  svd.norm = std::sqrt(squares);
  svd.residual = std::sqrt(std::max(0.0, squares - captured));
  return svd;
}

void symmetric_eigen(std::vector<double> m, std::int64_t n, std::vector<double>& values,
                     std::vector<double>& vectors) {
  const auto at = [n](std::int64_t i, std::int64_t j) { return static_cast<std::size_t>(i * n + j); };
  std::vector<double> v(m.size(), 0.0);  // rows become eigenvectors
  for (std::int64_t i = 0; i < n; ++i) v[at(i, i)] = 1;
  for (int sweep = 0; sweep < 40; ++sweep) {
    double off = 0, all = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) (i == j ? all : off) += m[at(i, j)] * m[at(i, j)];
    }
    if (off <= 1e-26 * all) break;
    for (std::int64_t p = 0; p < n; ++p) {
      for (std::int64_t q = p + 1; q < n; ++q) {
        if (m[at(p, q)] == 0) continue;
        const double theta = (m[at(q, q)] - m[at(p, p)]) / (2 * m[at(p, q)]);
        const double t = (theta >= 0 ? 1 : -1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (std::int64_t k = 0; k < n; ++k) {
          const double mp = m[at(p, k)], mq = m[at(q, k)], vp = v[at(p, k)], vq = v[at(q, k)];
          m[at(p, k)] = c * mp - s * mq;
          m[at(q, k)] = s * mp + c * mq;
          v[at(p, k)] = c * vp - s * vq;
          v[at(q, k)] = s * vp + c * vq;
        }
        for (std::int64_t k = 0; k < n; ++k) {
          const double mp = m[at(k, p)], mq = m[at(k, q)];
          m[at(k, p)] = c * mp - s * mq;
          m[at(k, q)] = s * mp + c * mq;
        }
      }
    }
  }
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto i, auto j) { return m[at(i, i)] > m[at(j, j)]; });
  values.clear();
  vectors.clear();
  for (const std::int64_t i : order) {
    values.push_back(m[at(i, i)]);
    vectors.insert(vectors.end(), v.begin() + i * n, v.begin() + (i + 1) * n);
  }
}

}  // namespace lorikeet
