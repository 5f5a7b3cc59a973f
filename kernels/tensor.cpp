// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor.h"

#include <algorithm>
#include <string>

#include "kernels/base/error.h"

namespace lorikeet {

Shape::Shape(std::initializer_list<std::int64_t> extents) {
  if (extents.size() > extents_.size())
    throw Error(ErrorCode::invalid_argument, "A shape has at most four extents");
  for (const std::int64_t extent : extents) {
    if (extent < 0) throw Error(ErrorCode::invalid_argument, "A shape cannot have a negative extent");
    extents_[static_cast<std::size_t>(rank_++)] = extent;
  }
}

std::int64_t Shape::elements() const {
  std::int64_t product = 1;
  for (int axis = 0; axis < rank_; ++axis) product *= extents_[static_cast<std::size_t>(axis)];
  return product;
}

std::int64_t TensorView::columns() const {
  std::int64_t product = 1;
  for (int axis = 1; axis < shape.rank(); ++axis) product *= shape[axis];
  return product;
}

TensorView TensorView::row_range(std::int64_t first, std::int64_t count) const {
  if (first < 0 || count < 0 || first + count > rows()) {
    throw Error(ErrorCode::invalid_argument, "Row range " + std::to_string(first) + "+" +
                                                 std::to_string(count) + " is outside a tensor of " +
                                                 std::to_string(rows()) + " rows");
  }
  TensorView part = *this;
  part.data = static_cast<char*>(data) + static_cast<std::size_t>(first * stride()) * size_of(dtype);
  switch (shape.rank()) {
    case 1:
      part.shape = {count};
      break;
    case 2:
      part.shape = {count, shape[1]};
      break;
    case 3:
      part.shape = {count, shape[1], shape[2]};
      break;
    default:
      part.shape = {count, shape[1], shape[2], shape[3]};
      break;
  }
  return part;
}

TensorView TensorView::reshaped(Shape other) const {
  if (other.elements() != shape.elements()) {
    throw Error(ErrorCode::invalid_argument, "Cannot reshape " + std::to_string(shape.elements()) +
                                                 " elements to " + std::to_string(other.elements()));
  }
  const bool keeps_rows = other.rank() > 0 && other[0] == rows();
  if (!contiguous() && !keeps_rows)
    throw Error(ErrorCode::invalid_argument, "Cannot reshape rows that have gaps between them");
  return {data, dtype, other, contiguous() ? 0 : row_stride};
}

TensorView TensorView::column_range(std::int64_t first, std::int64_t count) const {
  if (shape.rank() != 2 || first < 0 || count < 0 || first + count > stride()) {
    throw Error(ErrorCode::invalid_argument, "Column range " + std::to_string(first) + "+" +
                                                 std::to_string(count) + " is outside a matrix of " +
                                                 std::to_string(shape.rank() == 2 ? shape[1] : 0) +
                                                 " columns");
  }
  return {static_cast<char*>(data) + static_cast<std::size_t>(first) * size_of(dtype),
          dtype,
          {rows(), count},
          stride()};
}

TensorView Arena::take(Shape shape, DType dtype) {
  constexpr std::size_t alignment = 64;
  const std::size_t bytes = static_cast<std::size_t>(shape.elements()) * size_of(dtype);
  const std::size_t end = used_ + (bytes + alignment - 1) / alignment * alignment;
  if (end > capacity_bytes()) {
    throw Error(ErrorCode::out_of_memory, "The activation arena of " + std::to_string(capacity_bytes()) +
                                              " bytes is too small, " + std::to_string(end) + " are needed");
  }
  TensorView view{storage_.view().as<char>() + used_, dtype, shape, 0};
  used_ = end;
  peak_ = std::max(peak_, used_);
  return view;
}

}  // namespace lorikeet
