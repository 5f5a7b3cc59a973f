// SPDX-License-Identifier: Apache-2.0
// cublasLt over a plain product on the processor: what the loader of kernels/cuda asks for. Stricter than
// NVIDIA's: every operand must lie in one allocation, be written, be aligned as was promised and not overlap
// the result; a thread that makes a handle must have chosen the device that it will belong to.
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cuda/cublas_lt_candidates.h"
#include "tests/ptx/product.h"
#include "tests/ptx/runtime.h"

namespace lorikeet::cuda {

std::vector<std::string> cublas_lt_candidates() {
  if (!ptx::Runtime::get().has_cublas_lt) return {};
  return {""};
}

}  // namespace lorikeet::cuda

namespace lorikeet::ptx {
namespace {

struct Preference {
  std::uint64_t workspace_bytes = 0;
  std::uint32_t alignment[4] = {256, 256, 256, 256};  ///< of A, B, C, D
};

/// What this file keeps inside cublasLtMatmulAlgo_t.
struct Algorithm {
  std::uint64_t mark = 0x4c6f72696b656574, workspace_bytes = 0;
  std::uint32_t alignment[4] = {};
};
static_assert(sizeof(Algorithm) <= sizeof(cublasLtMatmulAlgo_t));

/// Objects behind opaque handles; an unknown handle is an invalid value, not a crash.
template <typename T>
class Objects {
 public:
  T* make(T value) {
    auto made = std::make_unique<T>(std::move(value));
    T* handle = made.get();
    live_[handle] = std::move(made);
    return handle;
  }
  T* find(const void* handle) const {
    const auto found = live_.find(handle);
    return found == live_.end() ? nullptr : found->second.get();
  }
  bool drop(const void* handle) { return live_.erase(handle) != 0; }

 private:
  std::map<const void*, std::unique_ptr<T>> live_;
};

struct Lt {
  Objects<int> handles;
  Objects<MatrixLayout> layouts;
  Objects<MatmulDescription> descriptions;
  Objects<Preference> preferences;
  static Lt& get() {
    static Lt lt;
    return lt;
  }
};

template <typename T>
bool assign(T& to, const void* from, std::size_t bytes) {
  if (!from || bytes != sizeof(T)) return false;
  std::memcpy(&to, from, bytes);
  return true;
}

cublasStatus_t said(bool good) {
  return good ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t refuse(Runtime& r, cublasStatus_t status, const std::string& why) {
  r.lt_reason = why;
  return status;
}

/// Reads handle, description and layouts into `p`.
bool collect(cublasLtHandle_t handle, cublasLtMatmulDesc_t how, cublasLtMatrixLayout_t a,
             cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d, Product& p) {
  Lt& lt = Lt::get();
  const MatmulDescription* description = lt.descriptions.find(how);
  const MatrixLayout *la = lt.layouts.find(a), *lb = lt.layouts.find(b), *lc = lt.layouts.find(c),
                     *ld = lt.layouts.find(d);
  if (!lt.handles.find(handle) || !description || !la || !lb || !lc || !ld) return false;
  p.how = *description;
  p.a = *la;
  p.b = *lb;
  p.c = *lc;
  p.d = *ld;
  return true;
}

/// Workspace and alignments that an algorithm was chosen for.
std::string check_algorithm(Runtime& r, const Product& p, const cublasLtMatmulAlgo_t& opaque, void* workspace,
                            std::size_t workspace_bytes) {
  Algorithm algorithm;
  std::memcpy(static_cast<void*>(&algorithm), &opaque, sizeof(algorithm));
  if (algorithm.mark != Algorithm().mark) return "an algorithm that no heuristic gave";
  const void* data[4] = {p.a_data, p.b_data, p.beta != 0 ? p.c_data : nullptr, p.d_data};
  for (int i = 0; i < 4; ++i) {
    if (reinterpret_cast<std::uint64_t>(data[i]) % algorithm.alignment[i] != 0) {
      return std::string(1, "ABCD"[i]) + " is less aligned than the " +
             std::to_string(algorithm.alignment[i]) + " bytes that the algorithm was asked for";
    }
  }
  if (workspace_bytes < algorithm.workspace_bytes) return "a workspace smaller than the algorithm needs";
  if (algorithm.workspace_bytes > 0) {
    const std::string found =
        r.memory.complaint(reinterpret_cast<std::uint64_t>(workspace), algorithm.workspace_bytes);
    if (!found.empty()) return "the workspace: " + found;
    if (reinterpret_cast<std::uint64_t>(workspace) % 256 != 0) return "a workspace not aligned to 256 bytes";
  }
  return "";
}

}  // namespace
}  // namespace lorikeet::ptx

using namespace lorikeet::ptx;

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  if (!has_chosen_device()) {
    return refuse(Runtime::get(), CUBLAS_STATUS_NOT_INITIALIZED, "a handle for whatever device is current");
  }
  *handle = reinterpret_cast<cublasLtHandle_t>(Lt::get().handles.make(0));
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  return said(Lt::get().handles.drop(handle));
}
std::size_t cublasLtGetVersion() {
  return CUBLAS_VERSION;
}
std::size_t cublasLtGetCudartVersion() {
  return CUDART_VERSION;
}
const char* cublasLtGetStatusName(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS         ? "CUBLAS_STATUS_SUCCESS"
         : status == CUBLAS_STATUS_NOT_SUPPORTED ? "CUBLAS_STATUS_NOT_SUPPORTED"
                                                 : "CUBLAS_STATUS_INVALID_VALUE";
}
/// With the reason, which NVIDIA's does not give.
const char* cublasLtGetStatusString(cublasStatus_t status) {
  static std::string sentence;
  sentence = cublasLtGetStatusName(status) + std::string(": ") + Runtime::get().lt_reason;
  return sentence.c_str();
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                          std::uint64_t rows, std::uint64_t columns, std::int64_t leading) {
  MatrixLayout made;
  made.type = type;
  made.rows = rows;
  made.columns = columns;
  made.leading = leading;
  *layout = reinterpret_cast<cublasLtMatrixLayout_t>(Lt::get().layouts.make(made));
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  return said(Lt::get().layouts.drop(layout));
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t handle,
                                                cublasLtMatrixLayoutAttribute_t which, const void* from,
                                                std::size_t bytes) {
  MatrixLayout* layout = Lt::get().layouts.find(handle);
  if (!layout) return CUBLAS_STATUS_INVALID_VALUE;
  switch (which) {
    case CUBLASLT_MATRIX_LAYOUT_TYPE:
      return said(assign(layout->type, from, bytes));
    case CUBLASLT_MATRIX_LAYOUT_ORDER:
      return said(assign(layout->order, from, bytes));
    case CUBLASLT_MATRIX_LAYOUT_ROWS:
      return said(assign(layout->rows, from, bytes));
    case CUBLASLT_MATRIX_LAYOUT_COLS:
      return said(assign(layout->columns, from, bytes));
    case CUBLASLT_MATRIX_LAYOUT_LD:
      return said(assign(layout->leading, from, bytes));
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
      return said(assign(layout->batches, from, bytes));
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
      return said(assign(layout->batch_stride, from, bytes));
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* description, cublasComputeType_t compute,
                                        cudaDataType scale_type) {
  MatmulDescription made;
  made.compute = compute;
  made.scale_type = scale_type;
  *description = reinterpret_cast<cublasLtMatmulDesc_t>(Lt::get().descriptions.make(made));
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description) {
  return said(Lt::get().descriptions.drop(description));
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t handle,
                                              cublasLtMatmulDescAttributes_t which, const void* from,
                                              std::size_t bytes) {
  MatmulDescription* description = Lt::get().descriptions.find(handle);
  if (!description) return CUBLAS_STATUS_INVALID_VALUE;
  switch (which) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return said(assign(description->transpose_a, from, bytes));
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return said(assign(description->transpose_b, from, bytes));
    case CUBLASLT_MATMUL_DESC_POINTER_MODE:
      return said(assign(description->pointer_mode, from, bytes));
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return said(assign(description->epilogue, from, bytes));
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  *preference = reinterpret_cast<cublasLtMatmulPreference_t>(Lt::get().preferences.make({}));
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  return said(Lt::get().preferences.drop(preference));
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t handle,
                                                    cublasLtMatmulPreferenceAttributes_t which,
                                                    const void* from, std::size_t bytes) {
  Preference* preference = Lt::get().preferences.find(handle);
  if (!preference) return CUBLAS_STATUS_INVALID_VALUE;
  switch (which) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
      return said(assign(preference->workspace_bytes, from, bytes));
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
      return said(assign(preference->alignment[0], from, bytes));
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
      return said(assign(preference->alignment[1], from, bytes));
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
      return said(assign(preference->alignment[2], from, bytes));
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
      return said(assign(preference->alignment[3], from, bytes));
    default:
      return CUBLAS_STATUS_SUCCESS;  // wishes, without effect here
  }
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t how,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference_handle, int wanted,
                                              cublasLtMatmulHeuristicResult_t* results, int* count) {
  Runtime& r = Runtime::get();
  const std::lock_guard<std::recursive_mutex> lock(r.mutex);
  *count = 0;
  Product p;
  const Preference* preference = Lt::get().preferences.find(preference_handle);
  if (wanted < 1 || !preference || !collect(handle, how, a, b, c, d, p)) return CUBLAS_STATUS_INVALID_VALUE;
  std::string why;
  const cublasStatus_t status = check_shapes(p, r.card.architecture, why);
  if (status != CUBLAS_STATUS_SUCCESS) return refuse(r, status, why);
  Algorithm algorithm;
  // As large as it may be, so that a workspace that is too small or shared shows.
  algorithm.workspace_bytes = std::min<std::uint64_t>(preference->workspace_bytes, 64 * 1024);
  std::copy_n(preference->alignment, 4, algorithm.alignment);
  results[0] = {};
  std::memcpy(&results[0].algo, &algorithm, sizeof(algorithm));
  results[0].workspaceSize = algorithm.workspace_bytes;
  results[0].state = CUBLAS_STATUS_SUCCESS;
  *count = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t how, const void* alpha,
                              const void* a_data, cublasLtMatrixLayout_t a, const void* b_data,
                              cublasLtMatrixLayout_t b, const void* beta, const void* c_data,
                              cublasLtMatrixLayout_t c, void* d_data, cublasLtMatrixLayout_t d,
                              const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                              std::size_t workspace_bytes, cudaStream_t stream) {
  Runtime& r = Runtime::get();
  const std::lock_guard<std::recursive_mutex> lock(r.mutex);
  if (r.sticky != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
  if (const int failure = std::exchange(r.failing_product, 0); failure != 0) {
    return refuse(r, static_cast<cublasStatus_t>(failure), "the test wants it to fail");
  }
  Product p;
  if (!alpha || !beta || !collect(handle, how, a, b, c, d, p))
    return refuse(r, CUBLAS_STATUS_INVALID_VALUE, "a handle");
  p.a_data = a_data;
  p.b_data = b_data;
  p.c_data = c_data;
  p.d_data = d_data;
  p.alpha = *static_cast<const float*>(alpha);
  p.beta = *static_cast<const float*>(beta);
  std::string why;
  const cublasStatus_t status = check_shapes(p, r.card.architecture, why);
  if (status != CUBLAS_STATUS_SUCCESS) return refuse(r, status, why);
  why = check_places(r, p);
  if (why.empty() && algorithm) why = check_algorithm(r, p, *algorithm, workspace, workspace_bytes);
  if (!why.empty()) return refuse(r, CUBLAS_STATUS_INVALID_VALUE, why);
  std::size_t used = 0;
  if (algorithm) {
    Algorithm chosen;
    std::memcpy(static_cast<void*>(&chosen), algorithm, sizeof(chosen));
    used = chosen.workspace_bytes;
  }
  const cudaError_t given = r.submit(stream, [&r, p, workspace, used] {
    if (used > 0) {  // partial sums would lie here: whatever else does is destroyed
      const auto address = reinterpret_cast<std::uint64_t>(workspace);
      if (const std::string found = r.memory.complaint(address, used); !found.empty()) {
        throw std::runtime_error("cublasLtMatmul: the workspace: " + found);
      }
      std::memset(workspace, 0xff, used);
      r.memory.mark_written(address, used);
    }
    run_product(r, p);
  });
  return given == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // extern "C"
