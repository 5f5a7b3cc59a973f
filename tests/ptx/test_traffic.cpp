// SPDX-License-Identifier: Apache-2.0
// Bytes that each operation moves, against what it has to move (the table of kernels in the design's
// performance page): distinct 32-byte sectors of each launch, products with their operands once. Nothing may
// move 1.3 times its minimum.
#include <QtTest>
#include <cstdio>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "tests/kernels/linear_support.h"
#include "tests/kernels/op_support.h"
#include "tests/ptx/control.h"

using namespace lorikeet;
using namespace lorikeet::testing;

namespace {

constexpr double most = 1.3;
// A layer of a small Llama with grouped keys.
constexpr std::int64_t tokens = 96, hidden = 256, inner = 704, heads = 4, kv_heads = 2, head_dim = 64,
                       vocabulary = 512, context = 512;
constexpr std::int64_t q = heads * head_dim, kv = kv_heads * head_dim;
constexpr std::int64_t parameters = 40960;

/// Tensors of one operation; f16, which every architecture has.
struct Operands {
  explicit Operands(Backend& b) : backend(b) {}
  Backend& backend;
  std::vector<Tensor> kept;

  TensorView make(Shape shape, DType dtype = DType::f16, double scale = 1) {
    kept.push_back(
        make_tensor(backend, shape, dtype, random_values(shape.elements(), kept.size() + 1, scale)));
    return kept.back();
  }
  TensorView zeros(Shape shape, DType dtype) {
    kept.push_back(
        make_tensor(backend, shape, dtype, Values(static_cast<std::size_t>(shape.elements()), 0.0)));
    return kept.back();
  }
  TensorView indices(std::int64_t count, std::int64_t bound) {
    kept.push_back(make_indices(backend, random_indices(count, bound, kept.size() + 1)));
    return kept.back();
  }
  TensorView counting(std::int64_t first, std::int64_t count) {
    Indices values(static_cast<std::size_t>(count));
    std::iota(values.begin(), values.end(), static_cast<std::int32_t>(first));
    kept.push_back(make_indices(backend, values));
    return kept.back();
  }
};

/// One operation: `prepare` makes the operands and gives the call; bytes by hand.
struct Row {
  const char* name;
  std::int64_t minimum;
  std::function<std::function<void()>(Operands&)> prepare;
  std::uint64_t most_launches = 0;  ///< 0 = not looked at
};

AttentionShape attention_shape() {
  AttentionShape shape;
  shape.heads = heads;
  shape.kv_heads = kv_heads;
  shape.head_dim = head_dim;
  shape.scale = 0.125f;
  return shape;
}

/// Two packed sequences.
PackedRows packed_rows(Operands& o) {
  PackedRows rows;
  Indices positions(static_cast<std::size_t>(tokens));
  for (std::int64_t i = 0; i < tokens; ++i)
    positions[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(i % (tokens / 2));
  o.kept.push_back(
      make_indices(o.backend, {0, static_cast<std::int32_t>(tokens / 2), static_cast<std::int32_t>(tokens)}));
  rows.cu_seqlens = o.kept.back();
  o.kept.push_back(make_indices(o.backend, positions));
  rows.positions = o.kept.back();
  rows.sequences = 2;
  rows.longest = tokens / 2;
  return rows;
}

std::vector<Row> row_operations() {
  constexpr std::int64_t T = tokens, H = hidden;
  return {
      {"embedding_forward", 4 * T * H + 4 * T,
       [](Operands& o) {
         const TensorView table = o.make({vocabulary, H}), ids = o.counting(3, T), out = o.make({T, H});
         return [=, &o] { o.backend.embedding_forward(table, ids, out); };
       }},
      {"gather_rows", 4 * T / 2 * H + 4 * T / 2,
       [](Operands& o) {
         const TensorView from = o.make({T, H}), rows = o.counting(7, T / 2), to = o.make({T / 2, H});
         return [=, &o] { o.backend.gather_rows(from, rows, to); };
       }},
      {"scatter_rows", 2 * T / 2 * H + 2 * T * H + 4 * T / 2,
       [](Operands& o) {
         const TensorView from = o.make({T / 2, H}), rows = o.counting(7, T / 2), to = o.make({T, H});
         return [=, &o] { o.backend.scatter_rows(from, rows, to); };
       }},
      {"add", 6 * T * H,
       [](Operands& o) {
         const TensorView to = o.make({T, H}), from = o.make({T, H});
         return [=, &o] { o.backend.add(to, from); };
       }},
      {"rms_norm_forward", 4 * T * H + 4 * H + 4 * T,
       [](Operands& o) {
         const TensorView x = o.make({T, H}), w = o.make({H}, DType::f32), y = o.make({T, H}),
                          rstd = o.make({T}, DType::f32);
         return [=, &o] { o.backend.rms_norm_forward(x, w, 1e-5f, y, rstd); };
       }},
      {"rms_norm_backward", 8 * T * H + 4 * H + 4 * T,
       [](Operands& o) {
         const TensorView dy = o.make({T, H}), x = o.make({T, H}), w = o.make({H}, DType::f32),
                          rstd = o.make({T}, DType::f32), dx = o.make({T, H});
         return [=, &o] { o.backend.rms_norm_backward(dy, x, w, rstd, dx, Write::accumulate); };
       }},
      {"layer_norm_forward", 4 * T * H + 8 * H + 8 * T,
       [](Operands& o) {
         const TensorView x = o.make({T, H}), w = o.make({H}, DType::f32), b = o.make({H}, DType::f32),
                          y = o.make({T, H}), mean = o.make({T}, DType::f32), rstd = o.make({T}, DType::f32);
         return [=, &o] { o.backend.layer_norm_forward(x, w, b, 1e-5f, y, mean, rstd); };
       }},
      {"rope_pair", 4 * T * (q + kv) + 4 * T + 4 * T * head_dim / 2,
       [](Operands& o) {
         const TensorView qs = o.make({T, heads, head_dim}), ks = o.make({T, kv_heads, head_dim});
         const TensorView cosine = o.make({T, head_dim / 2}, DType::f32),
                          sine = o.make({T, head_dim / 2}, DType::f32);
         const PackedRows rows = packed_rows(o);
         return [=, &o] { o.backend.rope_pair(qs, ks, rows.positions, cosine, sine, false); };
       }},
  };
}

std::vector<Row> element_operations() {
  constexpr std::int64_t T = tokens, I = inner;
  return {
      {"glu_forward", 6 * T * I,
       [](Operands& o) {
         const TensorView gate = o.make({T, I}), up = o.make({T, I}), h = o.make({T, I});
         return [=, &o] { o.backend.glu_forward(gate, up, h); };
       }},
      {"glu_backward", 12 * T * I,
       [](Operands& o) {
         const TensorView dh = o.make({T, I}), gate = o.make({T, I}), up = o.make({T, I}), h = o.make({T, I});
         return [=, &o] { o.backend.glu_backward(dh, gate, up, gate, up, h); };
       }},
      {"gelu_backward", 6 * T * I,
       [](Operands& o) {
         const TensorView dy = o.make({T, I}), x = o.make({T, I}), dx = o.make({T, I});
         return [=, &o] { o.backend.gelu_backward(dy, x, dx); };
       }},
  };
}

std::vector<Row> attention_operations() {
  constexpr std::int64_t T = tokens;
  return {
      {"attention_forward", 2 * T * (2 * q + 2 * kv) + 4 * T * heads,
       [](Operands& o) {
         const TensorView qs = o.make({T, q}), ks = o.make({T, kv}), vs = o.make({T, kv}),
                          out = o.make({T, q}), lse = o.make({T, heads}, DType::f32);
         const PackedRows rows = packed_rows(o);
         return [=, &o] { o.backend.attention_forward(qs, ks, vs, rows, attention_shape(), out, lse); };
       }},
      // Two launches: q, dout, out, k, v to dq and two numbers a row; q, dout, k, v to dk, dv.
      {"attention_backward",
       2 * T * (4 * q + 2 * kv) + 12 * T * heads + 2 * T * (2 * q + 4 * kv) + 8 * T * heads,
       [](Operands& o) {
         const TensorView dout = o.make({T, q}), qs = o.make({T, q}), ks = o.make({T, kv}),
                          vs = o.make({T, kv}), out = o.make({T, q}), lse = o.make({T, heads}, DType::f32),
                          dq = o.make({T, q}), dk = o.make({T, kv}), dv = o.make({T, kv});
         const PackedRows rows = packed_rows(o);
         o.backend.attention_forward(qs, ks, vs, rows, attention_shape(), out, lse);
         return [=, &o] {
           o.backend.attention_backward(dout, qs, ks, vs, out, lse, rows, attention_shape(), dq, dk, dv);
         };
       }},
      {"attention_cached", 2 * context * 2 * kv + 4 * q,
       [](Operands& o) {
         const TensorView qs = o.make({1, q}), ks = o.make({context, kv}), vs = o.make({context, kv}),
                          out = o.make({1, q}), at = o.counting(context - 1, 1);
         return [=, &o] { o.backend.attention_cached(qs, ks, vs, at, context, attention_shape(), out); };
       }},
  };
}

}  // namespace

class TestTraffic : public QObject {
  Q_OBJECT
 private slots:
  void no_operation_moves_much_more_than_it_must_data() {
    QTest::addColumn<Row>("row");
    for (const auto& rows : {row_operations(), element_operations(), attention_operations(),
                             optimizer_operations(), linear_operations()}) {
      for (const Row& row : rows) QTest::newRow(row.name) << row;
    }
  }
  void no_operation_moves_much_more_than_it_must() {
    QFETCH(Row, row);
    const auto backend = test_backend(1);
    Operands operands(*backend);
    const std::function<void()> call = row.prepare(operands);
    call();  // scratch grows, libraries are loaded
    backend->synchronize();
    ptx::reset_traffic(true);
    call();
    backend->synchronize();
    std::uint64_t bytes = 0, launches = 0;
    std::string parts;
    for (const ptx::LaunchTotals& totals : ptx::traffic()) {
      bytes += totals.bytes();
      launches += totals.launches;
      parts += " " + totals.name + ":" + std::to_string(totals.bytes());
    }
    ptx::reset_traffic(false);
    const double ratio = static_cast<double>(bytes) / static_cast<double>(row.minimum);
    std::printf("%-28s %2llu launches %9llu bytes, minimum %9lld, ratio %.3f %s\n", row.name,
                static_cast<unsigned long long>(launches), static_cast<unsigned long long>(bytes),
                static_cast<long long>(row.minimum), ratio, parts.c_str());
    QVERIFY2(ratio <= most, parts.c_str());
    if (row.most_launches > 0) QVERIFY2(launches <= row.most_launches, "more launches than it may take");
    QVERIFY2(ratio > 0.5, "less than it must move: the count or the minimum is wrong");
  }

 private:
  static std::vector<Row> optimizer_operations();
  static std::vector<Row> linear_operations();
};

namespace {

/// A call of guarded_adamw over tensors of 1024 numbers.
std::function<void()> whole_adapter(Operands& o) {
  const TensorView p = o.make({parameters}, DType::f32), g = o.make({parameters}, DType::f32);
  const TensorView loss = o.zeros({1}, DType::f64), outcome = o.zeros({outcome_count}, DType::f64);
  const auto parts = std::make_shared<std::vector<AdamPart>>();
  for (std::int64_t offset = 0; offset < parameters; offset += 1024) {
    AdamPart part;
    part.offset = offset;
    part.count = 1024;
    part.is_8bit = parts->size() % 2 == 0;
    if (part.is_8bit) {
      part.eight = {o.zeros({1024}, DType::u8), o.zeros({1024}, DType::u8), o.zeros({4}, DType::f32),
                    o.zeros({4}, DType::f32)};
    } else {
      part.m = o.zeros({1024}, DType::f32);
      part.v = o.zeros({1024}, DType::f32);
    }
    parts->push_back(part);
  }
  return [=, &o] { o.backend.guarded_adamw(p, g, *parts, {.learning_rate = 1e-3f}, 1, loss, outcome); };
}

}  // namespace

std::vector<Row> TestTraffic::optimizer_operations() {
  constexpr std::int64_t n = parameters, blocks = n / 256;
  return {
      {"sum_of_squares", 4 * n,
       [](Operands& o) {
         const TensorView x = o.make({n}, DType::f32), sum = o.zeros({1}, DType::f64);
         return [=, &o] { o.backend.sum_of_squares(x, sum); };
       }},
      {"adamw", 7 * 4 * n,
       [](Operands& o) {
         const TensorView p = o.make({n}, DType::f32), g = o.make({n}, DType::f32),
                          m = o.zeros({n}, DType::f32), v = o.zeros({n}, DType::f32);
         return [=, &o] { o.backend.adamw(p, g, m, v, {.learning_rate = 1e-3f}); };
       }},
      {"adamw_8bit", (4 + 4 + 4 + 2 + 2) * n + 16 * blocks,
       [](Operands& o) {
         const TensorView p = o.make({n}, DType::f32), g = o.make({n}, DType::f32);
         Adam8bitState state;
         state.m_codes = o.zeros({n}, DType::u8);
         state.v_codes = o.zeros({n}, DType::u8);
         state.m_absmax = o.zeros({blocks}, DType::f32);
         state.v_absmax = o.zeros({blocks}, DType::f32);
         return [=, &o] { o.backend.adamw_8bit(p, g, state, {.learning_rate = 1e-3f}); };
       }},
      // The gradient norm, then 20 tensors with 8-bit state and 20 with 32-bit state.
      {"guarded_adamw", 4 * n + (16 * n + 16 * blocks) / 2 + 28 * n / 2, whole_adapter, 3},
  };
}

/// Gate and up projection of a layer: NF4 weights, a branch each, y side by side, room behind the rows of x
/// and dY.
struct Pair {
  static constexpr std::int64_t rank = 16, parts = 2, width = parts * inner, ranks = parts * rank;
  static constexpr std::int64_t weights = width * hidden;
  static constexpr std::int64_t stored = weights / 2 + weights / 64 + weights / 64 / 256 * 4;
  /// B of each part in f32, both written behind all rows; A in f32 and in the compute type.
  static constexpr std::int64_t factors =
      4 * (width * rank + ranks * hidden) + 2 * (width * ranks + ranks * hidden);

  std::vector<Weight> weight;
  std::vector<LoraTerm> terms;
  std::vector<LoraGradient> gradients;
  std::vector<LinearPart> forward;
  std::vector<LinearBackwardPart> backward;
  TensorView x, dx;

  Pair(Operands& o, std::int64_t rows) {
    x = o.make({rows, hidden + ranks}).column_range(0, hidden);
    dx = o.make({rows, hidden});
    const TensorView y = o.make({rows, width + ranks});
    for (std::int64_t i = 0; i < parts; ++i) {
      weight.push_back(random_weight(o.backend, WeightFormat::nf4, inner, hidden, 3));
      terms.push_back({o.make({rank, hidden}, DType::f32, 0.1), o.make({inner, rank}, DType::f32, 0.1), 2,
                       o.make({rows, rank})});
      gradients.push_back({o.make({rank, hidden}, DType::f32), o.make({inner, rank}, DType::f32)});
    }
    for (std::size_t i = 0; i < parts; ++i) {
      const TensorView part = y.column_range(static_cast<std::int64_t>(i) * inner, inner);
      forward.push_back({&weight[i], {&terms[i], 1}, part});
      backward.push_back({part, &weight[i], &terms[i], &gradients[i]});
    }
  }
};

std::vector<Row> TestTraffic::linear_operations() {
  static constexpr std::int64_t M = 320, K = hidden, N = Pair::width, r = Pair::ranks, R = 64, V = vocabulary;
  constexpr std::int64_t forward_weights = Pair::stored + 2 * Pair::weights + Pair::factors;
  constexpr std::int64_t backward_weights = Pair::stored + 2 * Pair::weights + 6 * (N * Pair::rank + r * K);
  return {
      // dequantise; x A^T behind x and into xa; the product over K + r columns
      {"linear_group_forward",
       forward_weights + (2 * M * K + 2 * r * K + 4 * M * r) + 2 * (M * (K + r) + N * (K + r) + M * N),
       [](Operands& o) {
         const auto pair = std::make_shared<Pair>(o, M);
         return [=, &o] { o.backend.linear_group_forward(pair->x, pair->forward, {}); };
       }},
      // dequantise; dY B behind dY; the product over N + r columns; both gradients
      {"linear_group_backward",
       backward_weights + (2 * M * N + 2 * N * Pair::rank + 2 * M * r) +
           2 * (M * (N + r) + K * (N + r) + M * K) + 2 * M * (K + N + 2 * r) + 8 * (r * K + N * Pair::rank),
       [](Operands& o) {
         const auto pair = std::make_shared<Pair>(o, M);
         o.backend.linear_group_forward(pair->x, pair->forward, {});
         return [=, &o] {
           o.backend.linear_group_backward(pair->backward, pair->x, pair->dx, Write::overwrite);
         };
       }},
      // chat: straight from the stored weights
      {"linear_group_forward, 1 row", Pair::stored + 2 * (K + N) + 4 * (r * K + N * Pair::rank) + 4 * r,
       [](Operands& o) {
         const auto pair = std::make_shared<Pair>(o, 1);
         return [=, &o] { o.backend.linear_group_forward(pair->x, pair->forward, {}); };
       }},
      {"linear_group_forward, 16 rows",
       Pair::stored + 2 * 16 * (K + N) + 4 * (r * K + N * Pair::rank) + 4 * 16 * r,
       [](Operands& o) {
         const auto pair = std::make_shared<Pair>(o, 16);
         return [=, &o] { o.backend.linear_group_forward(pair->x, pair->forward, {}); };
       }},
      // logits in f32, softmax and gradient in place, gradient of h
      {"head_cross_entropy", 2 * (R * K + V * K) + 4 * R * V + (4 + 2) * R * V + 2 * (R * V + V * K + R * K),
       [](Operands& o) {
         const auto head = std::make_shared<Weight>(random_weight(o.backend, WeightFormat::f16, V, K, 3));
         const TensorView h = o.make({R, K}), targets = o.indices(R, V), sums = o.zeros({2}, DType::f64),
                          dh = o.make({R, K});
         return [=, &o] { o.backend.head_cross_entropy(h, *head, targets, 1, sums, dh); };
       }},
      {"head_logits, 1 row", 2 * V * K + 2 * K + 4 * V,
       [](Operands& o) {
         const auto head = std::make_shared<Weight>(random_weight(o.backend, WeightFormat::f16, V, K, 3));
         const TensorView h = o.make({1, K}), logits = o.make({1, V}, DType::f32);
         return [=, &o] { o.backend.head_logits(h, *head, logits); };
       }},
  };
}

QTEST_GUILESS_MAIN(TestTraffic)
#include "test_traffic.moc"
