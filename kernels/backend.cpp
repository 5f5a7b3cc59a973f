// SPDX-License-Identifier: Apache-2.0
// What a back end does where it has nothing better: groups one part after the other, transfers at once, no
// recording.
#include "kernels/backend.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/base/error.h"

namespace lorikeet {
namespace {

class PlainHostBuffer final : public HostBuffer {
 public:
  explicit PlainHostBuffer(std::size_t bytes) : bytes_(bytes) {}
  void* data() override { return bytes_.data(); }
  std::size_t bytes() const override { return bytes_.size(); }

 private:
  std::vector<char> bytes_;
};

void check_room(const HostBuffer& buffer, const TensorView& view) {
  if (view.bytes() > buffer.bytes())
    throw Error(ErrorCode::invalid_argument, "A transfer is larger than its host buffer");
}

std::vector<float> host_values(Backend& backend, const TensorView& tensor) {
  std::vector<float> values(static_cast<std::size_t>(tensor.elements()));
  backend.download(values.data(), tensor);
  return values;
}

/// Sum of squares of values - minus, or of the values where `minus` is empty.
double squares_of(const std::vector<float>& values, const std::vector<float>& minus) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value =
        static_cast<double>(values[i]) - (minus.empty() ? 0.0 : static_cast<double>(minus[i]));
    sum += value * value;
  }
  return sum;
}

}  // namespace

std::unique_ptr<HostBuffer> Backend::allocate_host(std::size_t bytes) {
  return std::make_unique<PlainHostBuffer>(bytes);
}

void Backend::download_later(HostBuffer& to, TensorView from) {
  check_room(to, from);
  download(to.data(), from);
}

void Backend::upload_later(TensorView to, HostBuffer& from) {
  check_room(from, to);
  upload(to, from.data());
}

void Backend::order_after(HostBuffer&) {}
bool Backend::arrived(HostBuffer&) {
  return true;
}
void Backend::wait(HostBuffer&) {}

std::int64_t Backend::tail_columns(std::int64_t, std::int64_t) const {
  return 0;
}

void Backend::repeat(std::uint64_t, const std::function<void()>& work) {
  work();
}

void Backend::rope_pair(TensorView q, TensorView k, TensorView positions, TensorView cosine, TensorView sine,
                        bool inverse) {
  rope(q, positions, cosine, sine, inverse);
  rope(k, positions, cosine, sine, inverse);
}

void Backend::linear_group_forward(TensorView x, std::span<const LinearPart> parts, TensorView residual) {
  if (residual && parts.size() != 1)
    throw Error(ErrorCode::invalid_argument, "linear_group_forward: a residual belongs to one part");
  for (const LinearPart& part : parts) {
    if (residual && residual.data != part.y.data) copy(part.y, residual);
    linear_forward(x, *part.weight, part.lora, part.y, residual ? Write::accumulate : Write::overwrite);
  }
}

void Backend::linear_group_backward(std::span<const LinearBackwardPart> parts, TensorView x, TensorView dx,
                                    Write write) {
  for (const LinearBackwardPart& part : parts) {
    // Without a branch and without dx there is nothing to make.
    if (part.lora || dx) linear_backward(part.dy, x, *part.weight, part.lora, part.gradient, dx, write);
    write = Write::accumulate;
  }
}

void Backend::guarded_adamw(TensorView parameters, TensorView gradients, std::span<const AdamPart> parts,
                            const AdamStep& step, float max_norm, TensorView loss_sum, TensorView outcome,
                            TensorView norms) {
  double results[outcome_count], loss = 0, squares = 0;
  download(results, outcome);
  download(&loss, loss_sum);
  Tensor sum = allocate({1}, DType::f64);
  fill_zero(sum);
  sum_of_squares(gradients, sum);
  download(&squares, sum);
  const double norm = std::sqrt(squares) * static_cast<double>(step.gradient_scale);
  results[outcome_gradient_norm] = norm;
  results[outcome_skipped] = std::isfinite(loss) && std::isfinite(norm) ? 0 : 1;
  results[outcome_skipped_steps] += results[outcome_skipped];
  const double limit = static_cast<double>(max_norm);
  const double clip = limit > 0 ? std::min(1.0, limit / (norm + 1e-6)) : 1.0;
  results[outcome_clip_factor] = clip;
  upload(outcome, results);
  const bool skipped = results[outcome_skipped] != 0;
  std::vector<double> sums;
  AdamStep numbers = step;
  numbers.step = step.step - static_cast<std::int64_t>(results[outcome_skipped_steps]);
  numbers.gradient_scale = static_cast<float>(static_cast<double>(step.gradient_scale) * clip);
  for (const AdamPart& part : parts) {
    const TensorView parameter = parameters.row_range(part.offset, part.count);
    const TensorView gradient = gradients.row_range(part.offset, part.count);
    std::vector<float> before;
    if (norms) before = host_values(*this, parameter);
    numbers.decay_last = part.decay_last;
    if (skipped) {
      if (!norms) break;
    } else if (part.is_8bit) {
      adamw_8bit(parameter, gradient, part.eight, numbers);
    } else {
      adamw(parameter, gradient, part.m, part.v, numbers);
    }
    if (norms) {
      const double scale = static_cast<double>(step.gradient_scale);
      const std::vector<float> after = host_values(*this, parameter);
      sums.push_back(squares_of(host_values(*this, gradient), {}) * scale * scale);
      sums.push_back(squares_of(after, before));
      sums.push_back(squares_of(after, {}));
    }
  }
  if (norms) upload(norms, sums.data());
}

}  // namespace lorikeet
