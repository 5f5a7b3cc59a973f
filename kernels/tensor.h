// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <utility>

#include "kernels/base/dtype.h"

namespace lorikeet {

/// Up to four extents, slowest first (row-major). A default Shape has rank 0 and one element.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> extents);  ///< throws Error on more than four or a negative extent

  int rank() const { return rank_; }
  std::int64_t operator[](int axis) const { return extents_[static_cast<std::size_t>(axis)]; }
  std::int64_t elements() const;
  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::array<std::int64_t, 4> extents_{};
  int rank_ = 0;
};

/// A row-major block of device memory that somebody else owns. Copying it copies the view, not the data. Rows lie
/// directly one after the other unless row_stride says otherwise (some columns of a wider buffer).
struct TensorView {
  void* data = nullptr;
  DType dtype = DType::f32;
  Shape shape;
  std::int64_t row_stride = 0;   ///< elements from one row to the next; 0 = columns()

  std::int64_t elements() const { return data ? shape.elements() : 0; }
  std::size_t bytes() const { return static_cast<std::size_t>(elements()) * size_of(dtype); }
  explicit operator bool() const { return data != nullptr; }

  std::int64_t rows() const { return shape[0]; }      ///< extent of the first axis
  std::int64_t columns() const;                       ///< product of the extents after the first
  std::int64_t stride() const { return row_stride != 0 ? row_stride : columns(); }
  bool contiguous() const { return row_stride == 0 || row_stride == columns() || rows() <= 1; }
  TensorView row_range(std::int64_t first, std::int64_t count) const;  ///< rows [first, first + count)
  /// Columns [first, first + count) of a matrix, with the matrix' row stride.
  TensorView column_range(std::int64_t first, std::int64_t count) const;
  /// Same elements, other shape; throws on a different count. Rows with gaps may only be split: (T,n) to (T,a,b).
  TensorView reshaped(Shape other) const;

  template <typename T>
  T* as() const {
    return static_cast<T*>(data);
  }
};

/// Returns memory to where it came from; implemented by each back end.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  virtual void deallocate(void* data, std::size_t bytes) noexcept = 0;
};

/// Move-only owner of device memory, made by Backend::allocate. The back end must outlive it.
class Tensor {
 public:
  Tensor() = default;
  Tensor(DeviceMemory* memory, TensorView view) : memory_(memory), view_(view) {}
  Tensor(Tensor&& other) noexcept { swap(other); }
  Tensor& operator=(Tensor&& other) noexcept {
    Tensor moved(static_cast<Tensor&&>(other));
    swap(moved);
    return *this;
  }
  ~Tensor() {
    if (view_.data) memory_->deallocate(view_.data, view_.bytes());
  }

  const TensorView& view() const { return view_; }
  operator TensorView() const { return view_; }  // NOLINT(google-explicit-constructor): an owner is used as a view
  const Shape& shape() const { return view_.shape; }
  DType dtype() const { return view_.dtype; }
  explicit operator bool() const { return static_cast<bool>(view_); }

 private:
  void swap(Tensor& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(view_, other.view_);
  }
  DeviceMemory* memory_ = nullptr;
  TensorView view_;
};

/// A bump allocator over one tensor: activations of a step are taken from it and given back all at once, so a step
/// allocates nothing. `take` aligns to 64 bytes and throws Error(out_of_memory) when the arena was planned too small.
class Arena {
 public:
  explicit Arena(Tensor storage) : storage_(static_cast<Tensor&&>(storage)) {}

  TensorView take(Shape shape, DType dtype);
  std::size_t mark() const { return used_; }
  void rewind(std::size_t mark) { used_ = mark; }  ///< gives back all taken since `mark`
  std::size_t peak_bytes() const { return peak_; }
  std::size_t capacity_bytes() const { return storage_.view().bytes(); }

 private:
  Tensor storage_;
  std::size_t used_ = 0;
  std::size_t peak_ = 0;
};

}  // namespace lorikeet
