// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublasLt.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "kernels/cuda/gemm.h"
#include "kernels/cuda/handle.h"
#include "kernels/tensor.h"

namespace lorikeet::cuda {

/// Products by NVIDIA's cuBLASLt, which is opened at run time from cublas_lt_candidates(). The algorithm of a
/// shape is asked for once and kept; sums never depend on the order in which blocks finish.
class CublasLt {
 public:
  /// The functions of the library that are used, by their prototypes in its header.
  struct Functions;
  /// Working memory of the algorithms that want some, taken when the first one does.
  static constexpr std::int64_t workspace_bytes(int compute_capability) {
    return (compute_capability >= 90 ? 32 : 8) * (std::int64_t{1} << 20);
  }

  /// nullptr where no library of a known version was found or it does not start.
  static std::unique_ptr<CublasLt> open();
  ~CublasLt();

  /// False when the library has no algorithm for these operands, the algorithm fails or there is no memory
  /// for its work; nothing has happened then. Throws Error(device) when the device is lost.
  bool multiply(CudaBackend& backend, const Product& product);
  /// For example "13.0.2".
  std::string version() const;
  const std::string& path() const { return path_; }

 private:
  struct Plan;
  using Key = std::array<std::int64_t, 15>;
  CublasLt(std::string path, std::unique_ptr<Functions> functions, cublasLtHandle_t handle);
  static Key key_of(const Product& product);
  std::unique_ptr<Plan> make_plan(CudaBackend& backend, const Product& product, const Key& key) const;
  bool has_workspace(CudaBackend& backend, const Plan& plan);  ///< takes it when the first plan wants it

  std::string path_;
  std::unique_ptr<Functions> functions_;
  cublasLtHandle_t handle_ = nullptr;
  std::map<Key, std::unique_ptr<Plan>> plans_;
  Tensor workspace_;
};

}  // namespace lorikeet::cuda
