// SPDX-License-Identifier: Apache-2.0
// The emulated cublasLt: right products, and every wrong operand refused.
#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <QtTest>
#include <algorithm>
#include <numeric>
#include <vector>

#include "tests/ptx/control.h"

using namespace lorikeet;

namespace {

/// D (4,6) = A (4,5) B (5,6) in f32, column by column, with whatever a test changes in it.
struct LtProduct {
  std::uint64_t m = 4, n = 6, k = 5;
  std::int64_t lda = 4, ldb = 5, ldd = 4;
  cudaDataType type = CUDA_R_32F;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  std::size_t a_bytes = 4 * 5 * sizeof(float), workspace_bytes = 0, promised_workspace = 0;
  bool writes_b = true, in_place = false;
  std::uint32_t alignment = 4;
  std::size_t a_offset = 0;

  /// The status of the first call that fails; the product in `out`.
  cublasStatus_t run(std::vector<float>& out) const;
};

cublasStatus_t LtProduct::run(std::vector<float>& out) const {
  std::vector<float> a(m * k), b(k * n), zero(64);
  std::iota(a.begin(), a.end(), 1.0f);
  std::iota(b.begin(), b.end(), -7.0f);
  char *da = nullptr, *db = nullptr, *dd = nullptr, *work = nullptr;
  cudaMalloc(reinterpret_cast<void**>(&da), a_bytes + a_offset);
  cudaMalloc(reinterpret_cast<void**>(&db), b.size() * sizeof(float));
  cudaMalloc(reinterpret_cast<void**>(&dd), m * n * sizeof(float));
  cudaMalloc(reinterpret_cast<void**>(&work), workspace_bytes + 1);
  cudaMemcpy(da + a_offset, a.data(), std::min(a_bytes, a.size() * sizeof(float)), cudaMemcpyHostToDevice);
  if (writes_b) cudaMemcpy(db, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice);
  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t how = nullptr;
  cublasLtMatrixLayout_t la = nullptr, lb = nullptr, ld = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
  cublasLtCreate(&handle);
  cublasLtMatmulDescCreate(&how, compute, CUDA_R_32F);
  cublasLtMatrixLayoutCreate(&la, type, m, k, lda);
  cublasLtMatrixLayoutCreate(&lb, type, k, n, ldb);
  cublasLtMatrixLayoutCreate(&ld, type, m, n, ldd);
  cublasLtMatmulPreferenceCreate(&preference);
  cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                       &promised_workspace, sizeof(promised_workspace));
  for (const auto which :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
    cublasLtMatmulPreferenceSetAttribute(preference, which, &alignment, sizeof(alignment));
  }
  cublasLtMatmulHeuristicResult_t result = {};
  int found = 0;
  const float one = 1, nothing = 0;
  cublasStatus_t status =
      cublasLtMatmulAlgoGetHeuristic(handle, how, la, lb, ld, ld, preference, 1, &result, &found);
  if (status == CUBLAS_STATUS_SUCCESS) {
    char* target = in_place ? da : dd;
    status = cublasLtMatmul(handle, how, &one, da + a_offset, la, db, lb, &nothing, target, ld, target, ld,
                            &result.algo, work, workspace_bytes, nullptr);
  }
  if (status == CUBLAS_STATUS_SUCCESS && cudaDeviceSynchronize() != cudaSuccess) {
    status = CUBLAS_STATUS_EXECUTION_FAILED;
  }
  if (status == CUBLAS_STATUS_SUCCESS) {
    out.resize(m * n);
    cudaMemcpy(out.data(), dd, m * n * sizeof(float), cudaMemcpyDeviceToHost);
  }
  return status;
}

}  // namespace

class TestCublasLt : public QObject {
  Q_OBJECT
 private slots:
  void initTestCase() {
    cublasLtHandle_t handle = nullptr;
    QCOMPARE(cublasLtCreate(&handle), CUBLAS_STATUS_NOT_INITIALIZED);  // no device was chosen
    QCOMPARE(cudaSetDevice(0), cudaSuccess);
    QCOMPARE(cublasLtCreate(&handle), CUBLAS_STATUS_SUCCESS);
    QCOMPARE(cublasLtDestroy(handle), CUBLAS_STATUS_SUCCESS);
  }
  void cleanup() {
    (void)ptx::complaint();
    ptx::restart();
  }

  void cublas_lt_multiplies() {
    ptx::restart();
    std::vector<float> out;
    LtProduct product;
    product.workspace_bytes = product.promised_workspace = 4096;
    ptx::reset_traffic();
    QCOMPARE(product.run(out), CUBLAS_STATUS_SUCCESS);
    for (std::size_t row = 0; row < 4; ++row) {
      for (std::size_t column = 0; column < 6; ++column) {
        double sum = 0;
        for (std::size_t i = 0; i < 5; ++i) {
          sum += static_cast<double>(1 + i * 4 + row) * (static_cast<double>(column * 5 + i) - 7);
        }
        QCOMPARE(static_cast<double>(out[column * 4 + row]), sum);
      }
    }
    bool counted = false;
    for (const ptx::LaunchTotals& totals : ptx::traffic()) {
      if (totals.kind == ptx::LaunchKind::product) counted = totals.bytes() == 4 * (4 * 5 + 5 * 6 + 4 * 6);
    }
    QVERIFY(counted);
  }
  void wrong_products_are_refused_data() {
    QTest::addColumn<LtProduct>("product");
    QTest::addColumn<int>("status");
    QTest::addColumn<QString>("why");
    const auto row = [](const char* name, cublasStatus_t status, const char* why, auto change) {
      LtProduct product;
      change(product);
      QTest::newRow(name) << product << int{status} << QString(why);
    };
    const cublasStatus_t invalid = CUBLAS_STATUS_INVALID_VALUE, failed = CUBLAS_STATUS_EXECUTION_FAILED;
    row("a leading dimension below the rows", invalid, "leading", [](LtProduct& p) { p.lda = 3; });
    row("a leading dimension beyond the memory", invalid, "A: ", [](LtProduct& p) { p.lda = 5; });
    row("a matrix with too little memory", invalid, "A: ", [](LtProduct& p) { p.a_bytes -= 4; });
    row("an operand never written", failed, "never written", [](LtProduct& p) { p.writes_b = false; });
    row("a result over an operand", failed, "D is A", [](LtProduct& p) {
      p.in_place = true;
      p.a_bytes = 4 * 6 * sizeof(float);
    });
    row("sums in f16", CUBLAS_STATUS_NOT_SUPPORTED, "f32",
        [](LtProduct& p) { p.compute = CUBLAS_COMPUTE_16F; });
    row("products in TF32", CUBLAS_STATUS_NOT_SUPPORTED, "f32",
        [](LtProduct& p) { p.compute = CUBLAS_COMPUTE_32F_FAST_TF32; });
    row("less aligned than promised", invalid, "aligned", [](LtProduct& p) {
      p.alignment = 16;
      p.a_offset = 4;
    });
    row("too small a workspace", invalid, "workspace", [](LtProduct& p) { p.promised_workspace = 4096; });
  }
  void wrong_products_are_refused() {
    QFETCH(LtProduct, product);
    QFETCH(int, status);
    QFETCH(QString, why);
    ptx::restart();
    std::vector<float> out;
    QCOMPARE(int{product.run(out)}, status);
    const QString said = status == CUBLAS_STATUS_EXECUTION_FAILED
                             ? QString::fromStdString(ptx::complaint())
                             : QString(cublasLtGetStatusString(static_cast<cublasStatus_t>(status)));
    QVERIFY2(said.contains(why), qPrintable(said));
  }
};

QTEST_GUILESS_MAIN(TestCublasLt)
#include "test_cublas_lt.moc"
