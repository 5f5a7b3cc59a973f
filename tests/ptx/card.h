// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>

#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/cuda_loader.h"
#include "tests/kernels/transfer_program.h"
#include "tests/ptx/control.h"

namespace lorikeet::testing {

/// A fresh card with a back end.
class Card {
 public:
  explicit Card(std::uint64_t seed = 1) {
    ptx::restart();
    ptx::set_seed(seed);
    backend_ = make_cuda_backend({});
  }
  Backend& operator*() const { return *backend_; }
  Backend* operator->() const { return backend_.get(); }
  cuda::CudaBackend& cuda() const { return static_cast<cuda::CudaBackend&>(*backend_); }

  Tensor tensor(const transfers::Numbers& numbers) const {
    Tensor tensor = backend_->allocate({static_cast<std::int64_t>(numbers.size())}, DType::f32);
    backend_->upload(tensor, numbers.data());
    return tensor;
  }
  transfers::Numbers read(const TensorView& view) const {
    transfers::Numbers numbers(static_cast<std::size_t>(view.elements()));
    backend_->download(numbers.data(), view);
    return numbers;
  }
  std::unique_ptr<HostBuffer> buffer(const transfers::Numbers& numbers) const {
    auto buffer = backend_->allocate_host(numbers.size() * sizeof(float));
    std::memcpy(buffer->data(), numbers.data(), buffer->bytes());
    return buffer;
  }

 private:
  std::unique_ptr<Backend> backend_;
};

}  // namespace lorikeet::testing
