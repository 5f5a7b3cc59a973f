// SPDX-License-Identifier: Apache-2.0
#include "tests/ptx/product.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "kernels/base/half.h"

namespace lorikeet::ptx {
namespace {

bool is_float(cudaDataType type) {
  return type == CUDA_R_32F || type == CUDA_R_16F || type == CUDA_R_16BF;
}

struct Operand {
  const char* name;
  const MatrixLayout* layout;
  const void* data;
  std::uint64_t begin() const { return reinterpret_cast<std::uint64_t>(data); }
  std::uint64_t batch(std::int32_t i) const {
    const std::int64_t bytes = i * layout->batch_stride * static_cast<std::int64_t>(layout->element_bytes());
    return begin() + static_cast<std::uint64_t>(bytes);
  }
};

std::vector<Operand> operands(const Product& p) {
  std::vector<Operand> all = {{"A", &p.a, p.a_data}, {"B", &p.b, p.b_data}, {"D", &p.d, p.d_data}};
  if (p.beta != 0) all.push_back({"C", &p.c, p.c_data});
  return all;
}

float load(const void* data, cudaDataType type, std::size_t i) {
  if (type == CUDA_R_32F) return static_cast<const float*>(data)[i];
  const std::uint16_t bits = static_cast<const std::uint16_t*>(data)[i];
  return type == CUDA_R_16BF ? bf16_to_f32(bits) : f16_to_f32(bits);
}

void store(void* data, cudaDataType type, std::size_t i, float value) {
  if (type == CUDA_R_32F) {
    static_cast<float*>(data)[i] = value;
  } else {
    static_cast<std::uint16_t*>(data)[i] = type == CUDA_R_16BF ? f32_to_bf16(value) : f32_to_f16(value);
  }
}

void require_written(Runtime& r, const Operand& o, std::uint64_t begin) {
  const std::size_t bytes = o.layout->line_length() * o.layout->element_bytes();
  const std::size_t pitch = static_cast<std::size_t>(o.layout->leading) * o.layout->element_bytes();
  for (std::size_t line = 0; line < o.layout->lines(); ++line) {
    const std::uint8_t* known = r.memory.written(begin + line * pitch);
    if (std::find(known, known + bytes, std::uint8_t{0}) != known + bytes) {
      throw std::runtime_error("cublasLtMatmul: line " + std::to_string(line) + " of " + o.name +
                               " has elements never written");
    }
  }
}

/// D's elements of batch `i`; sums in double over k in order.
void multiply(Runtime& r, const Product& p, std::int32_t i) {
  const bool ta = p.how.transpose_a != CUBLAS_OP_N, tb = p.how.transpose_b != CUBLAS_OP_N;
  const std::size_t m = p.d.rows, n = p.d.columns, k = ta ? p.a.rows : p.a.columns;
  const auto place = [&](const MatrixLayout& layout, const void* data) {
    return reinterpret_cast<const char*>(Operand{"", &layout, data}.batch(i));
  };
  std::vector<double> a(m * k), sums(m);  // a: column by column
  const char* a_data = place(p.a, p.a_data);
  for (std::size_t row = 0; row < m; ++row) {
    for (std::size_t inner = 0; inner < k; ++inner) {
      a[inner * m + row] =
          static_cast<double>(load(a_data, p.a.type, ta ? p.a.at(inner, row) : p.a.at(row, inner)));
    }
  }
  const char* b_data = place(p.b, p.b_data);
  const char* c_data = place(p.c, p.c_data);
  char* d_data = const_cast<char*>(place(p.d, p.d_data));
  for (std::size_t column = 0; column < n; ++column) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::size_t inner = 0; inner < k; ++inner) {
      const auto b =
          static_cast<double>(load(b_data, p.b.type, tb ? p.b.at(column, inner) : p.b.at(inner, column)));
      for (std::size_t row = 0; row < m; ++row) sums[row] += a[inner * m + row] * b;
    }
    for (std::size_t row = 0; row < m; ++row) {
      float value = p.alpha * static_cast<float>(sums[row]);
      if (p.beta != 0) value += p.beta * load(c_data, p.c.type, p.c.at(row, column));
      store(d_data, p.d.type, p.d.at(row, column), value);
      const std::uint64_t address =
          reinterpret_cast<std::uint64_t>(d_data) + p.d.at(row, column) * p.d.element_bytes();
      r.memory.mark_written(address, p.d.element_bytes());
    }
  }
}

}  // namespace

cublasStatus_t check_shapes(const Product& p, int architecture, std::string& why) {
  const auto unsupported = [&](const char* what) {
    why = what;
    return CUBLAS_STATUS_NOT_SUPPORTED;
  };
  const auto invalid = [&](const char* what) {
    why = what;
    return CUBLAS_STATUS_INVALID_VALUE;
  };
  if (p.how.compute != CUBLAS_COMPUTE_32F && p.how.compute != CUBLAS_COMPUTE_32F_PEDANTIC) {
    return unsupported("sums in anything but f32");
  }
  if (p.how.scale_type != CUDA_R_32F || p.how.pointer_mode != CUBLASLT_POINTER_MODE_HOST) {
    return unsupported("factors that are not f32 on the host");
  }
  if (p.how.epilogue != CUBLASLT_EPILOGUE_DEFAULT) return unsupported("an epilogue");
  for (const MatrixLayout* m : {&p.a, &p.b, &p.c, &p.d}) {
    if (!is_float(m->type)) return unsupported("a type other than f32, f16, bf16");
    if (m->type == CUDA_R_16BF && architecture < 80) return unsupported("bf16 below compute capability 8.0");
    if (m->order != CUBLASLT_ORDER_COL && m->order != CUBLASLT_ORDER_ROW) return unsupported("a tiled order");
    if (m->rows == 0 || m->columns == 0) return invalid("an empty matrix");
    if (m->leading < static_cast<std::int64_t>(m->line_length()))
      return invalid("a leading dimension below the length");
    if (m->batches != p.a.batches) return invalid("different numbers of batches");
  }
  if (p.a.type != p.b.type) return unsupported("A and B of different types");
  if (p.c.type != p.d.type) return unsupported("C and D of different types");
  if (p.d.type != p.a.type && p.d.type != CUDA_R_32F) return unsupported("a result of another 16-bit type");
  const bool ta = p.how.transpose_a != CUBLAS_OP_N, tb = p.how.transpose_b != CUBLAS_OP_N;
  const std::uint64_t m = ta ? p.a.columns : p.a.rows, k = ta ? p.a.rows : p.a.columns;
  const std::uint64_t k2 = tb ? p.b.columns : p.b.rows, n = tb ? p.b.rows : p.b.columns;
  if (k != k2) return invalid("inner dimensions of A and B");
  if (p.d.rows != m || p.d.columns != n) return invalid("the shape of D");
  if (p.c.rows != m || p.c.columns != n) return invalid("the shape of C");
  return CUBLAS_STATUS_SUCCESS;
}

std::string check_places(Runtime& r, const Product& p) {
  for (const Operand& o : operands(p)) {
    if (o.begin() % o.layout->element_bytes() != 0)
      return std::string(o.name) + " is not aligned to its elements";
    for (std::int32_t i = 0; i < o.layout->batches; ++i) {
      const std::string found = r.memory.complaint(o.batch(i), o.layout->extent());
      if (!found.empty()) return std::string(o.name) + ": " + found;
    }
  }
  if (p.beta != 0 && p.c_data == p.d_data && (p.c.leading != p.d.leading || p.c.order != p.d.order)) {
    return "C and D are one matrix of two layouts";
  }
  return "";
}

void run_product(Runtime& r, const Product& p) {
  if (const std::string found = check_places(r, p); !found.empty()) {
    throw std::runtime_error("cublasLtMatmul: " + found);
  }
  std::uint64_t read = 0, written = 0;
  for (const Operand& o : operands(p)) {
    const bool is_result = o.name[0] == 'D';
    const std::uint64_t bytes = o.layout->rows * o.layout->columns * o.layout->element_bytes();
    for (std::int32_t i = 0; i < o.layout->batches; ++i) {
      (is_result ? written : read) += bytes;
      if (!is_result) require_written(r, o, o.batch(i));
    }
    const std::uint64_t d = reinterpret_cast<std::uint64_t>(p.d_data);
    const bool may_be_d = is_result || o.name[0] == 'C';
    if (!may_be_d && p.a.batches == 1 && o.begin() == d) {
      throw std::runtime_error(std::string("cublasLtMatmul: D is ") + o.name);
    }
  }
  for (std::int32_t i = 0; i < p.d.batches; ++i) multiply(r, p, i);
  r.traffic.add("product", LaunchKind::product, read, written);
}

}  // namespace lorikeet::ptx
