// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "kernels/backend.h"
#include "kernels/base/error.h"
#include "tests/kernels/reference.h"

// What the tests of the operations share: operands as doubles, poisoned outputs, comparison with a tolerance
// as data.
namespace lorikeet::testing {

using reference::Indices;
using reference::Values;

/// Normal values from a stream of their own; the same for the same seed.
Values random_values(std::int64_t count, std::uint64_t seed, double scale = 1.0);
/// Whole numbers in [0, bound).
Indices random_indices(std::int64_t count, std::int64_t bound, std::uint64_t seed);
/// What is left of the values when they are stored as `dtype` (f64, f32, f16, bf16).
Values rounded(Values values, DType dtype);

Tensor make_tensor(Backend& backend, Shape shape, DType dtype, const Values& values);
Tensor make_indices(Backend& backend, const Indices& values);
/// A tensor full of NaN (floats) or 0xee bytes: an operation that reads or forgets an element shows it.
Tensor make_poisoned(Backend& backend, Shape shape, DType dtype);
Values read_back(Backend& backend, const TensorView& view);
std::vector<std::uint8_t> read_bytes(Backend& backend, const TensorView& view);

/// A matrix whose rows are columns of a wider buffer, as back ends with fuses_parts() take them. The gaps
/// hold NaN.
struct WideTensor {
  Tensor buffer;
  TensorView view;
};
/// `before` and `after` columns of gap in each row.
WideTensor make_wide(Backend& backend, Shape shape, DType dtype, const Values& values, std::int64_t before,
                     std::int64_t after);
/// The values of the view; throws when something was written into a gap.
Values read_wide(Backend& backend, const WideTensor& wide);

/// How far `got` may be from `want`: |got - want| <= absolute + relative * |want| + scaled * max|want|.
struct Tolerance {
  double absolute = 0, relative = 0, scaled = 0;
};
/// Tolerances of an operation whose inner sums have `terms` terms, in f32 or stored as bf16 or f16.
Tolerance tolerance_for(DType dtype, std::int64_t terms);
/// Those of attention with sums over `terms` keys.
Tolerance attention_tolerance(DType dtype, std::int64_t terms);
/// Empty when all elements are near enough and finite, else a sentence naming the worst one.
std::string difference(const Values& got, const Values& want, const Tolerance& tolerance);

/// Gradient of `loss` at `x` by central differences, one element after the other.
Values central_differences(const std::function<double(const Values&)>& loss, Values x, double step = 1e-5);
double inner_product(const Values& a, const Values& b);

/// Runs `work` on a CPU back end of one thread and of two; gives what it returned from one thread, and a
/// sentence in `complaint` when the bytes differ.
std::vector<std::uint8_t> same_with_any_threads(
    const std::function<std::vector<std::uint8_t>(Backend&)>& work, std::string& complaint);
/// The same for an operation with several outputs, as values (every element type fits into double).
std::vector<Values> outputs_with_any_threads(const std::function<std::vector<Values>(Backend&)>& work,
                                             std::string& complaint);
/// The back end under test: the CPU with this many threads (test_backend_cpu.cpp), or the CUDA back end on
/// the interpreter (tests/ptx) or on a GPU (tests/gpu), which take no notice of the number. Which one is
/// decided by what is linked.
std::unique_ptr<Backend> test_backend(int threads);
/// The processor's back end with one thread, for comparison; null in tests/gpu, which is built without it.
std::unique_ptr<Backend> processor_backend(std::uint64_t memory_limit_bytes);

/// f32, bf16 and f16, as far as the back end under test computes in them.
std::vector<DType> compute_types();

/// True when `call` throws Error with this code.
bool throws(const std::function<void()>& call, ErrorCode code);

}  // namespace lorikeet::testing
