// SPDX-License-Identifier: Apache-2.0
// Our rows are cuBLASLt's columns: d (M,N) row by row is D (N,M) column by column, so D = op(B) A with our b
// first.
#include "kernels/cuda/cublas_lt.h"

#include <dlfcn.h>

#include <algorithm>
#include <utility>

#include "kernels/base/error.h"
#include "kernels/cuda/cublas_lt_candidates.h"
#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/status.h"

namespace lorikeet::cuda {

struct CublasLt::Functions {
  decltype(&cublasLtCreate) create = nullptr;
  decltype(&cublasLtDestroy) destroy = nullptr;
  decltype(&cublasLtGetVersion) get_version = nullptr;
  decltype(&cublasLtMatmul) matmul = nullptr;
  decltype(&cublasLtMatmulAlgoGetHeuristic) get_heuristic = nullptr;
  decltype(&cublasLtMatmulDescCreate) create_description = nullptr;
  decltype(&cublasLtMatmulDescDestroy) destroy_description = nullptr;
  decltype(&cublasLtMatmulDescSetAttribute) set_description = nullptr;
  decltype(&cublasLtMatrixLayoutCreate) create_layout = nullptr;
  decltype(&cublasLtMatrixLayoutDestroy) destroy_layout = nullptr;
  decltype(&cublasLtMatmulPreferenceCreate) create_preference = nullptr;
  decltype(&cublasLtMatmulPreferenceDestroy) destroy_preference = nullptr;
  decltype(&cublasLtMatmulPreferenceSetAttribute) set_preference = nullptr;

  /// False when one of them is missing.
  bool load(void* library) {
    const auto find = [library](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    return find(create, "cublasLtCreate") && find(destroy, "cublasLtDestroy") &&
           find(get_version, "cublasLtGetVersion") && find(matmul, "cublasLtMatmul") &&
           find(get_heuristic, "cublasLtMatmulAlgoGetHeuristic") &&
           find(create_description, "cublasLtMatmulDescCreate") &&
           find(destroy_description, "cublasLtMatmulDescDestroy") &&
           find(set_description, "cublasLtMatmulDescSetAttribute") &&
           find(create_layout, "cublasLtMatrixLayoutCreate") &&
           find(destroy_layout, "cublasLtMatrixLayoutDestroy") &&
           find(create_preference, "cublasLtMatmulPreferenceCreate") &&
           find(destroy_preference, "cublasLtMatmulPreferenceDestroy") &&
           find(set_preference, "cublasLtMatmulPreferenceSetAttribute");
  }
};

namespace {

/// Owner of one of the library's objects, given back by a function that is known at run time only.
template <typename T>
using Owned = std::unique_ptr<std::remove_pointer_t<T>, cublasStatus_t (*)(T)>;

cudaDataType_t type_of(DType dtype) {
  return dtype == DType::bf16 ? CUDA_R_16BF : dtype == DType::f16 ? CUDA_R_16F : CUDA_R_32F;
}

/// The largest power of two up to 256 that divides the address: what an algorithm may count on.
std::uint32_t alignment_of(const void* data) {
  const auto address = reinterpret_cast<std::uintptr_t>(data) | 256;
  return static_cast<std::uint32_t>(address & (~address + 1));
}

}  // namespace

struct CublasLt::Plan {
  Owned<cublasLtMatmulDesc_t> description{nullptr, nullptr};
  Owned<cublasLtMatrixLayout_t> a{nullptr, nullptr}, b{nullptr, nullptr}, c{nullptr, nullptr},
      d{nullptr, nullptr};
  cublasLtMatmulHeuristicResult_t chosen{};
  bool found = false;
};

CublasLt::CublasLt(std::string path, std::unique_ptr<Functions> functions, cublasLtHandle_t handle)
    : path_(std::move(path)), functions_(std::move(functions)), handle_(handle) {}

CublasLt::~CublasLt() {
  plans_.clear();
  (void)functions_->destroy(handle_);
}

std::unique_ptr<CublasLt> CublasLt::open() {
  for (const std::string& path : cublas_lt_candidates()) {
    // Never closed: what the library started stays.
    void* library = dlopen(path.empty() ? nullptr : path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) continue;
    auto functions = std::make_unique<Functions>();
    cublasLtHandle_t handle = nullptr;
    if (!functions->load(library) || functions->create(&handle) != CUBLAS_STATUS_SUCCESS) continue;
    return std::unique_ptr<CublasLt>(new CublasLt(path, std::move(functions), handle));
  }
  return nullptr;
}

std::string CublasLt::version() const {
  // Ten thousands, hundreds and ones since 11.0 (cublas_api.h: MAJOR * 10000 + MINOR * 100 + PATCH).
  const std::size_t version = functions_->get_version();
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

CublasLt::Key CublasLt::key_of(const Product& product) {
  const TensorView& c = product.c ? product.c : product.d;
  return {product.d.rows(),
          product.d.columns(),
          product.a.columns(),
          product.a.stride(),
          product.b.stride(),
          c.stride(),
          product.d.stride(),
          static_cast<std::int64_t>(product.a.dtype),
          static_cast<std::int64_t>(product.d.dtype),
          product.b_transposed,
          static_cast<bool>(product.c),
          alignment_of(product.a.data),
          alignment_of(product.b.data),
          alignment_of(c.data),
          alignment_of(product.d.data)};
}

std::unique_ptr<CublasLt::Plan> CublasLt::make_plan(CudaBackend& backend, const Product& product,
                                                    const Key& key) const {
  const Functions& f = *functions_;
  auto plan = std::make_unique<Plan>();
  bool good = true;  // what fails once leaves the product to kernels of our own
  const auto expect = [&good](cublasStatus_t status) { good = good && status == CUBLAS_STATUS_SUCCESS; };
  // Pedantic f32: no TF32 and no emulation, whatever the environment asks for.
  const bool single = product.a.dtype == DType::f32;
  cublasLtMatmulDesc_t description = nullptr;
  expect(f.create_description(&description, single ? CUBLAS_COMPUTE_32F_PEDANTIC : CUBLAS_COMPUTE_32F,
                              CUDA_R_32F));
  plan->description = {description, f.destroy_description};
  const auto layout = [&](Owned<cublasLtMatrixLayout_t>& to, const TensorView& view) {
    cublasLtMatrixLayout_t made = nullptr;
    expect(f.create_layout(&made, type_of(view.dtype), static_cast<std::uint64_t>(view.columns()),
                           static_cast<std::uint64_t>(view.rows()), std::max(view.stride(), view.columns())));
    to = {made, f.destroy_layout};
  };
  layout(plan->a, product.b);
  layout(plan->b, product.a);
  layout(plan->c, product.c ? product.c : product.d);
  layout(plan->d, product.d);
  cublasLtMatmulPreference_t made = nullptr;
  expect(f.create_preference(&made));
  const Owned<cublasLtMatmulPreference_t> preference(made, f.destroy_preference);
  if (!good) return plan;
  const cublasOperation_t transpose = product.b_transposed ? CUBLAS_OP_N : CUBLAS_OP_T;
  expect(f.set_description(description, CUBLASLT_MATMUL_DESC_TRANSA, &transpose, sizeof transpose));
  const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t which, const auto& value) {
    expect(f.set_preference(made, which, &value, sizeof value));
  };
  prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
         static_cast<std::uint64_t>(workspace_bytes(backend.compute_capability())));
  // Partial sums are added in a pass of their own, in a fixed order; never where blocks happen to meet.
  prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
         static_cast<std::uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, static_cast<std::uint32_t>(key[12]));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, static_cast<std::uint32_t>(key[11]));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, static_cast<std::uint32_t>(key[13]));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, static_cast<std::uint32_t>(key[14]));
  int count = 0;
  expect(f.get_heuristic(handle_, description, plan->a.get(), plan->b.get(), plan->c.get(), plan->d.get(),
                         made, 1, &plan->chosen, &count));
  plan->found = good && count > 0 && plan->chosen.state == CUBLAS_STATUS_SUCCESS;
  return plan;
}

bool CublasLt::has_workspace(CudaBackend& backend, const Plan& plan) {
  if (plan.chosen.workspaceSize == 0 || workspace_) return true;
  try {
    workspace_ = backend.allocate({workspace_bytes(backend.compute_capability())}, DType::u8);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory) throw;
  }
  return static_cast<bool>(workspace_);
}

bool CublasLt::multiply(CudaBackend& backend, const Product& product) {
  constexpr std::size_t most_plans = 512;  // prompts have any length
  const cudaStream_t stream = backend.stream();
  const Key key = key_of(product);
  auto found = plans_.find(key);
  if (found == plans_.end()) {
    if (plans_.size() >= most_plans) plans_.clear();
    found = plans_.emplace(key, make_plan(backend, product, key)).first;
  }
  Plan& plan = *found->second;
  if (plan.found) plan.found = has_workspace(backend, plan);
  if (!plan.found) return false;
  const float one = 1, factor = product.c ? 1 : 0;
  const TensorView& c = product.c ? product.c : product.d;
  const cublasStatus_t status =
      functions_->matmul(handle_, plan.description.get(), &one, product.b.data, plan.a.get(), product.a.data,
                         plan.b.get(), &factor, c.data, plan.c.get(), product.d.data, plan.d.get(),
                         &plan.chosen.algo, workspace_.view().data, workspace_.view().bytes(), stream);
  if (status == CUBLAS_STATUS_SUCCESS) return true;
  // What the library offered does not run here; kernels of our own do. A lost device is another matter.
  const cudaError_t error = cudaGetLastError();
  if (is_lost(error)) check_cuda(error, "cublasLtMatmul");
  plan.found = false;
  return false;
}

}  // namespace lorikeet::cuda
