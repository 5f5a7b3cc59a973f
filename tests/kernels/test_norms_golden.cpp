// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <nlohmann/json.hpp>

#include "tests/kernels/kernel_test.h"
#include "tests/support/golden.h"

using namespace lorikeet;
using namespace lorikeet::testing;

/// Against PyTorch and transformers (tests/golden/make_norms.py).
class TestNormsGolden : public KernelTest {
  Q_OBJECT

  static Values golden_values(const std::string& name) {
    static const auto file = golden::read_tensors("norms/norms.safetensors");
    const std::vector<float> floats = file.at(name).floats();
    return Values(floats.begin(), floats.end());
  }
  static float golden_epsilon() { return golden::read_json("norms/meta.json")["epsilon"].get<float>(); }
  static constexpr std::int64_t rows = 5, width = 37;

  static Tensor matrix(Backend& backend, const std::string& name) {
    return make_tensor(backend, {rows, width}, DType::f32, golden_values(name));
  }
  static Tensor row(Backend& backend, const std::string& name) {
    return make_tensor(backend, {width}, DType::f32, golden_values(name));
  }
  static constexpr Tolerance tolerance{2e-6, 2e-6, 0};

 private slots:
  void layer_norm_follows_pytorch() {
    const auto backend = test_backend(1);
    const Tensor x = matrix(*backend, "x"), weight = row(*backend, "weight"), bias = row(*backend, "bias");
    const Tensor y = make_poisoned(*backend, {rows, width}, DType::f32);
    const Tensor dx = make_poisoned(*backend, {rows, width}, DType::f32);
    const Tensor mean = make_poisoned(*backend, {rows}, DType::f32);
    const Tensor rstd = make_poisoned(*backend, {rows}, DType::f32);
    backend->layer_norm_forward(x, weight, bias, golden_epsilon(), y, mean, rstd);
    backend->layer_norm_backward(matrix(*backend, "dy"), x, weight, mean, rstd, dx, Write::overwrite);
    compare(read_back(*backend, y), golden_values("layer_norm.y"), tolerance, "y");
    compare(read_back(*backend, dx), golden_values("layer_norm.dx"), tolerance, "dx");
  }

  void gemmas_norm_follows_transformers() {
    const auto backend = test_backend(1);
    const Tensor x = matrix(*backend, "x"), weight = row(*backend, "weight");
    const Tensor y = make_poisoned(*backend, {rows, width}, DType::f32);
    const Tensor dx = make_poisoned(*backend, {rows, width}, DType::f32);
    const Tensor rstd = make_poisoned(*backend, {rows}, DType::f32);
    constexpr NormScale scale = NormScale::one_plus_weight;
    backend->rms_norm_forward(x, weight, golden_epsilon(), y, rstd, scale);
    backend->rms_norm_backward(matrix(*backend, "dy"), x, weight, rstd, dx, Write::overwrite, scale);
    compare(read_back(*backend, y), golden_values("gemma_rms_norm.y"), tolerance, "y");
    compare(read_back(*backend, dx), golden_values("gemma_rms_norm.dx"), tolerance, "dx");
  }

  void gelu_follows_pytorch() {
    const auto backend = test_backend(1);
    const Tensor x = matrix(*backend, "gelu.x");
    const Tensor y = make_poisoned(*backend, {rows, width}, DType::f32);
    const Tensor dx = make_poisoned(*backend, {rows, width}, DType::f32);
    backend->gelu_forward(x, y);
    backend->gelu_backward(matrix(*backend, "dy"), x, dx);
    compare(read_back(*backend, y), golden_values("gelu.y"), tolerance, "y");
    compare(read_back(*backend, dx), golden_values("gelu.dx"), tolerance, "dx");
  }
};

QTEST_GUILESS_MAIN(TestNormsGolden)
#include "test_norms_golden.moc"
