// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <cmath>
#include <limits>

#include "tests/kernels/kernel_test.h"

using namespace lorikeet;
using namespace lorikeet::testing;

namespace {

/// A whole adapter with its state on one back end.
class Adapter {
 public:
  struct PartSize {
    std::int64_t count;
    bool is_8bit, decay_last;
  };

  /// `gap` numbers lie between the parts, so that they begin at odd places.
  Adapter(Backend& backend, const std::vector<PartSize>& sizes, std::int64_t gap) : backend_(backend) {
    for (const PartSize& size : sizes) {
      AdamPart part;
      part.offset = total_;
      part.count = size.count;
      part.is_8bit = size.is_8bit;
      part.decay_last = size.decay_last;
      const std::int64_t blocks = (size.count + 255) / 256;
      if (size.is_8bit) {
        part.eight = {zeros({size.count}, DType::u8), zeros({size.count}, DType::u8),
                      zeros({blocks}, DType::f32), zeros({blocks}, DType::f32)};
      } else {
        part.m = zeros({size.count}, DType::f32);
        part.v = zeros({size.count}, DType::f32);
      }
      parts_.push_back(part);
      total_ += size.count + gap;
    }
    parameters_ = make_tensor(backend, {total_}, DType::f32, random_values(total_, 1));
    loss_ = make_tensor(backend, {1}, DType::f64, {2.0});
    outcome_ = make_tensor(backend, {outcome_count}, DType::f64, Values(outcome_count, 0.0));
  }

  void set_loss(double loss) { backend_.upload(loss_, &loss); }
  /// Gradients of step `seed`, one of them replaced by `spoiled` when that is not 0.
  void step(const AdamStep& numbers, float max_norm, std::uint64_t seed, double spoiled = 0,
            bool plain = false) {
    Values values = random_values(total_, seed, 0.1);
    if (spoiled != 0) values[values.size() / 2] = spoiled;
    const Tensor gradients = make_tensor(backend_, {total_}, DType::f32, values);
    if (plain)
      backend_.Backend::guarded_adamw(parameters_, gradients, parts_, numbers, max_norm, loss_, outcome_);
    else
      backend_.guarded_adamw(parameters_, gradients, parts_, numbers, max_norm, loss_, outcome_, norms_);
  }
  /// From here on each step leaves its norms.
  void measure() {
    const auto rows = static_cast<std::int64_t>(parts_.size());
    norms_ =
        make_tensor(backend_, {rows, norms_count}, DType::f64, Values(parts_.size() * norms_count, -1.0));
  }
  Values norms() const { return read_back(backend_, norms_); }
  /// The same from gradients of step `seed` and parameters before and after it.
  Values expected_norms(const Values& before, const AdamStep& numbers, std::uint64_t seed) const {
    const Values gradients = rounded(random_values(total_, seed, 0.1), DType::f32);
    const Values after = parameters();
    Values sums;
    for (const AdamPart& part : parts_) {
      double squares[norms_count] = {};
      for (std::int64_t i = part.offset; i < part.offset + part.count; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const double gradient = gradients[at] * static_cast<double>(numbers.gradient_scale);
        squares[norms_gradient] += gradient * gradient;
        squares[norms_update] += (after[at] - before[at]) * (after[at] - before[at]);
        squares[norms_parameter] += after[at] * after[at];
      }
      sums.insert(sums.end(), squares, squares + norms_count);
    }
    return sums;
  }

  Values parameters() const { return read_back(backend_, parameters_); }
  Values outcome() const { return read_back(backend_, outcome_); }
  /// All moments, absmax values and codes.
  Values state() const {
    Values all;
    for (const Tensor& tensor : state_) {
      const Values values = read_back(backend_, tensor);
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  }
  std::int64_t total() const { return total_; }

 private:
  TensorView zeros(Shape shape, DType dtype) {
    state_.push_back(
        make_tensor(backend_, shape, dtype, Values(static_cast<std::size_t>(shape.elements()), 0.0)));
    return state_.back();
  }

  Backend& backend_;
  std::int64_t total_ = 0;
  std::vector<AdamPart> parts_;
  std::vector<Tensor> state_;
  Tensor parameters_, loss_, outcome_, norms_;
};

const std::vector<Adapter::PartSize> few_parts = {{5000, true, false}, {33, false, false},
                                                  {2048, true, false}, {4097, false, true},
                                                  {256, true, false},  {1, false, true}};

AdamStep numbers_of_step(std::int64_t step) {
  return {.learning_rate = 2e-3f, .weight_decay = 0.01f, .step = step, .gradient_scale = 0.25f};
}

double norm_of(std::int64_t count, std::uint64_t seed) {
  return std::sqrt(reference::sum_of_squares(rounded(random_values(count, seed, 0.1), DType::f32)));
}

}  // namespace

class TestGuardedAdamw : public KernelTest {
  Q_OBJECT
 private slots:
  void steps_equal_those_part_by_part_data() {
    QTest::addColumn<int>("gap");
    QTest::addColumn<float>("max_norm");
    QTest::newRow("parts side by side, not clipped") << 0 << 0.0f;
    QTest::newRow("parts at multiples of 4, clipped") << 3 << 0.5f;
    QTest::newRow("parts at odd places, clipped") << 1 << 0.5f;
  }
  void steps_equal_those_part_by_part() {
    QFETCH(int, gap);
    QFETCH(float, max_norm);
    check_outputs(
        [&](Backend& backend) {
          Adapter together(backend, few_parts, gap), alone(backend, few_parts, gap);
          std::vector<Values> outputs;
          for (std::int64_t step = 1; step <= 3; ++step) {
            together.step(numbers_of_step(step), max_norm, static_cast<std::uint64_t>(step));
            alone.step(numbers_of_step(step), max_norm, static_cast<std::uint64_t>(step), 0, true);
            for (const Adapter* adapter : {&together, &alone}) {
              outputs.push_back(adapter->parameters());
              outputs.push_back(adapter->state());
              outputs.push_back(adapter->outcome());
            }
          }
          return outputs;
        },
        [&](const std::vector<Values>& got) {
          for (std::size_t step = 0; step < 3; ++step) {
            const std::size_t at = step * 6;
            // pow of the device may differ from the host's in the last place.
            compare(got[at], got[at + 3], {1e-30, 1e-6, 0}, "parameters");
            compare(got[at + 1], got[at + 4], {1e-30, 1e-6, 0}, "state");
            compare(got[at + 2], got[at + 5], {1e-30, 1e-12, 0}, "outcome");
            QCOMPARE(got[at + 2][outcome_skipped], 0.0);
          }
        });
  }

  void the_outcome_tells_norm_and_clip_factor() {
    const auto backend = test_backend(1);
    Adapter adapter(*backend, few_parts, 0);
    adapter.step(numbers_of_step(1), 0.5f, 1);
    const double norm = norm_of(adapter.total(), 1) * 0.25;
    compare(adapter.outcome(), {norm, 0, 0, 0.5 / (norm + 1e-6)}, {1e-30, 1e-12, 0}, "clipped");
    adapter.step(numbers_of_step(2), 1000, 2);
    compare(adapter.outcome(), {norm_of(adapter.total(), 2) * 0.25, 0, 0, 1}, {1e-30, 1e-12, 0},
            "below the limit");
    adapter.step(numbers_of_step(3), 0, 3);
    compare(adapter.outcome(), {norm_of(adapter.total(), 3) * 0.25, 0, 0, 1}, {1e-30, 1e-12, 0}, "no limit");
  }

  void nothing_changes_when_loss_or_gradient_is_not_finite_data() {
    QTest::addColumn<double>("loss");
    QTest::addColumn<double>("gradient");
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double infinity = std::numeric_limits<double>::infinity();
    QTest::newRow("loss is not a number") << nan << 0.0;
    QTest::newRow("loss is infinite") << -infinity << 0.0;
    QTest::newRow("a gradient is not a number") << 1.0 << nan;
    QTest::newRow("a gradient is infinite") << 1.0 << infinity;
  }
  void nothing_changes_when_loss_or_gradient_is_not_finite() {
    QFETCH(double, loss);
    QFETCH(double, gradient);
    const auto backend = test_backend(2);
    Adapter adapter(*backend, few_parts, 1);
    adapter.step(numbers_of_step(1), 1, 1);
    const Values parameters = adapter.parameters(), state = adapter.state();
    adapter.set_loss(loss);
    adapter.step(numbers_of_step(2), 1, 2, gradient);
    QCOMPARE(adapter.parameters(), parameters);
    QCOMPARE(adapter.state(), state);
    QCOMPARE(adapter.outcome()[outcome_skipped], 1.0);
    QCOMPARE(adapter.outcome()[outcome_skipped_steps], 1.0);
  }

  void skipped_steps_are_counted_and_do_not_age_the_moments() {
    const auto backend = test_backend(1);
    Adapter skipping(*backend, few_parts, 0), steady(*backend, few_parts, 0);
    skipping.step(numbers_of_step(1), 1, 1);
    skipping.step(numbers_of_step(2), 1, 5, std::nan(""));
    skipping.step(numbers_of_step(3), 1, 6, std::nan(""));
    skipping.step(numbers_of_step(4), 1, 2);
    steady.step(numbers_of_step(1), 1, 1);
    steady.step(numbers_of_step(2), 1, 2);
    QCOMPARE(skipping.parameters(), steady.parameters());
    QCOMPARE(skipping.state(), steady.state());
    QCOMPARE(skipping.outcome()[outcome_skipped], 0.0);
    QCOMPARE(skipping.outcome()[outcome_skipped_steps], 2.0);
  }

  void an_adapter_of_several_hundred_parts_is_updated_whole() {
    std::vector<Adapter::PartSize> sizes;
    for (std::int64_t i = 0; i < 400; ++i) sizes.push_back({7 + i % 31, i % 5 == 0, i % 2 == 0});
    sizes.push_back({2100, true, false});
    sizes.push_back({2100, false, false});
    const auto backend = test_backend(2);
    Adapter together(*backend, sizes, 1), alone(*backend, sizes, 1);
    const Values before = together.parameters();
    for (std::int64_t step = 1; step <= 2; ++step) {
      together.step(numbers_of_step(step), 1, static_cast<std::uint64_t>(step));
      alone.step(numbers_of_step(step), 1, static_cast<std::uint64_t>(step), 0, true);
    }
    compare(together.parameters(), alone.parameters(), {1e-30, 1e-6, 0}, "parameters");
    compare(together.state(), alone.state(), {1e-30, 1e-6, 0}, "state");
    // Every number but those between the parts has moved.
    const Values after = together.parameters();
    std::size_t at = 0;
    for (const Adapter::PartSize& size : sizes) {
      for (std::int64_t i = 0; i < size.count; ++i, ++at) QVERIFY(after[at] != before[at]);
      QCOMPARE(after[at], before[at]);
      ++at;
    }
  }

  void norms_of_every_part_are_told_also_of_skipped_steps_data() {
    QTest::addColumn<int>("gap");
    QTest::newRow("parts side by side") << 0;
    QTest::newRow("parts at odd places") << 1;
  }
  void norms_of_every_part_are_told_also_of_skipped_steps() {
    QFETCH(int, gap);
    const auto backend = test_backend(2);
    Adapter adapter(*backend, few_parts, gap), silent(*backend, few_parts, gap);
    adapter.measure();
    for (std::int64_t step = 1; step <= 2; ++step) {
      const Values before = adapter.parameters();
      const AdamStep numbers = numbers_of_step(step);
      adapter.step(numbers, 0.5f, static_cast<std::uint64_t>(step));
      silent.step(numbers, 0.5f, static_cast<std::uint64_t>(step));
      compare(adapter.norms(), adapter.expected_norms(before, numbers, static_cast<std::uint64_t>(step)),
              {1e-30, 1e-12, 0}, "norms");
      // Measuring changes nothing.
      QCOMPARE(adapter.parameters(), silent.parameters());
      QCOMPARE(adapter.state(), silent.state());
    }
    const Values before = adapter.parameters();
    adapter.set_loss(std::nan(""));
    adapter.step(numbers_of_step(3), 0.5f, 3);
    compare(adapter.norms(), adapter.expected_norms(before, numbers_of_step(3), 3), {1e-30, 1e-12, 0},
            "skipped");
    for (std::size_t part = 0; part < few_parts.size(); ++part)
      QCOMPARE(adapter.norms()[part * norms_count + norms_update], 0.0);
  }

  void two_adapters_may_take_turns() {
    const auto backend = test_backend(1);
    const std::vector<Adapter::PartSize> small = {{300, true, false}, {40, false, true}};
    Adapter a(*backend, small, 0), b(*backend, few_parts, 0), alone(*backend, small, 0);
    a.step(numbers_of_step(1), 1, 1);
    b.step(numbers_of_step(1), 1, 1);
    a.step(numbers_of_step(2), 1, 2);
    alone.step(numbers_of_step(1), 1, 1);
    alone.step(numbers_of_step(2), 1, 2);
    QCOMPARE(a.parameters(), alone.parameters());
    QCOMPARE(a.state(), alone.state());
  }
};

QTEST_GUILESS_MAIN(TestGuardedAdamw)
#include "test_guarded_adamw.moc"
