// SPDX-License-Identifier: Apache-2.0
#include "core/train/plan_fit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace lorikeet {
namespace {

/// Values to try of one thing, the present one first.
struct Choice {
  std::string what;  ///< a sentence about it
  int harm = 0;      ///< of each value behind the first
  std::vector<Settings> (*values)(const Settings&, const ModelSpec&, const FitData&, const PlanDevice&);
};

using Values = std::vector<Settings>;

Values smaller_batches(const Settings& from, const ModelSpec&, const FitData&, const PlanDevice&) {
  Values values;
  for (std::int64_t rows = from.batch_size / 2; rows >= 1; rows /= 2) {
    Settings to = from;
    to.batch_size = rows;
    to.accumulation = (from.batch_size * from.accumulation + rows - 1) / rows;
    values.push_back(to);
  }
  return values;
}

std::int64_t length_of_share(const FitData& data, double share) {
  std::vector<std::int64_t> lengths;
  for (const auto* rows : {data.train, data.evaluation}) {
    for (const TokenRow& row : *rows) lengths.push_back(static_cast<std::int64_t>(row.ids.size()));
  }
  if (lengths.empty()) return 0;
  const auto at = static_cast<std::size_t>(std::ceil(share * static_cast<double>(lengths.size())) - 1);
  std::nth_element(lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(at), lengths.end());
  return lengths[at];
}

/// max-length at `length`; packs become shorter, so there are more of them for a step.
Values with_length(const Settings& from, const ModelSpec& spec, std::int64_t length) {
  const std::int64_t before = resolved_max_length(from, spec);
  length = std::max<std::int64_t>(16, (length + 7) / 8 * 8);
  if (length >= before) return {};
  Settings to = from;
  to.max_length = length;
  if (from.packing)
    to.accumulation = std::max<std::int64_t>(1, (from.accumulation * before + length / 2) / length);
  return {to};
}

Values longest_row(const Settings& from, const ModelSpec& spec, const FitData& data, const PlanDevice&) {
  return from.packing ? with_length(from, spec, length_of_share(data, 1)) : Values{};
}

Values most_rows(const Settings& from, const ModelSpec& spec, const FitData& data, const PlanDevice&) {
  return with_length(from, spec, length_of_share(data, 0.95));
}

Values four_bits(const Settings& from, const ModelSpec&, const FitData&, const PlanDevice&) {
  if (from.quantization != "int8" && from.quantization != "none") return {};
  Settings to = from;
  to.quantization = "nf4";
  return {to};
}

Values eight_bit_optimizer(const Settings& from, const ModelSpec&, const FitData&, const PlanDevice&) {
  if (from.optimizer == "adamw-8bit") return {};
  Settings to = from;
  to.optimizer = "adamw-8bit";
  return {to};
}

Values sixteen_bits(const Settings& from, const ModelSpec&, const FitData&, const PlanDevice& device) {
  if (!device.is_cuda || from.compute != "f32") return {};
  Settings to = from;
  to.compute = "auto";
  return {to};
}

Values offloaded(const Settings& from, const ModelSpec&, const FitData&, const PlanDevice& device) {
  if (!device.is_cuda || from.offload) return {};
  Settings to = from;
  to.offload = true;
  return {to};
}

Values no_samples(const Settings& from, const ModelSpec&, const FitData&, const PlanDevice&) {
  if (from.sample_prompts.empty()) return {};
  Settings to = from;
  to.sample_prompts.clear();
  return {to};
}

Values lower_ranks(const Settings& from, const ModelSpec&, const FitData&, const PlanDevice&) {
  Values values;
  double alpha = from.alpha;
  for (std::int64_t rank = from.rank / 2; rank >= 8; rank /= 2) {
    Settings to = from;
    to.rank = rank;
    to.alpha = alpha = alpha / 2;  // the same scale
    values.push_back(to);
  }
  return values;
}

constexpr int cuts = 8;

const std::vector<Choice>& choices() {
  static const std::vector<Choice> all = {
      {"Fewer rows at once, more batches a step: the same rows in each step", 0, smaller_batches},
      {"Packs as long as the longest row: nothing is cut", 0, longest_row},
      {"Inputs of recomputed layers wait in the computer's memory", 0, offloaded},
      {"Products of 16-bit numbers", 1, sixteen_bits},
      {"Optimiser state in 8 bits", 1, eight_bit_optimizer},
      {"Base weights in 4 bits", 1, four_bits},
      {"No sample prompts", 1, no_samples},
      {"A lower rank: the adapter can learn less", 2, lower_ranks},
      {"The longest 5 % of the rows are cut", cuts, most_rows}};
  return all;
}

std::vector<SettingChange> difference(const Settings& from, const Settings& to) {
  std::vector<SettingChange> changes;
  for (const SettingInfo& info : settings_table()) {
    const std::string before = setting_text(from, info.key), after = setting_text(to, info.key);
    if (before != after) changes.push_back({info.key, before, after});
  }
  return changes;
}

class Search {
 public:
  Search(const ModelSpec& spec, const FitData& data, const Settings& settings, const PlanDevice& device)
      : spec_(spec), data_(data), start_(settings), device_(device) {
    advice_.now = plan_of(settings);
  }

  FitAdvice run() {
    if (!advice_.now.fits) combine(0, start_, 0);
    for (const Choice& choice : choices()) {
      const Values values = choice.values(start_, spec_, data_, device_);
      if (values.empty()) continue;
      // Of several values the first that fits, else the one that saves most.
      FitOption option;
      for (const Settings& value : values) {
        option = option_of(value, choice.harm, choice.what);
        if (option.plan.fits) break;
      }
      if (option.saved_bytes > 0) advice_.single.push_back(std::move(option));
    }
    return std::move(advice_);
  }

 private:
  PlanDevice device_for(const Settings& settings) const {
    PlanDevice device = device_;
    if (device.is_cuda && start_.compute == "f32" && settings.compute != "f32") device.compute_bytes = 2;
    return device;
  }

  Plan plan_of(const Settings& settings) {
    return make_plan(spec_, shape_of(settings), settings, device_for(settings));
  }

  const DataShape& shape_of(const Settings& settings) {
    const std::int64_t length = resolved_max_length(settings, spec_);
    const auto key = std::make_tuple(length, settings.batch_size, settings.sample_prompts.empty());
    if (const auto found = shapes_.find(key); found != shapes_.end()) return found->second;
    DataShape shape;
    if (length < resolved_max_length(start_, spec_)) {
      shape = data_shape(cut(*data_.train, length), cut(*data_.evaluation, length), settings, length);
    } else {
      shape = data_shape(*data_.train, *data_.evaluation, settings, length);
    }
    shape.sample_tokens = settings.sample_prompts.empty() ? 0 : data_.sample_tokens;
    return shapes_.emplace(key, shape).first->second;
  }

  static std::vector<TokenRow> cut(std::vector<TokenRow> rows, std::int64_t length) {
    for (TokenRow& row : rows) {
      const auto keep = static_cast<std::size_t>(length);
      if (row.ids.size() <= keep) continue;
      row.ids.resize(keep);
      row.targets.resize(keep);
      row.targets.back() = -1;
      row.trained_tokens =
          std::count_if(row.targets.begin(), row.targets.end(), [](TokenId id) { return id >= 0; });
    }
    std::erase_if(rows, [](const TokenRow& row) { return row.trained_tokens == 0; });
    return rows;
  }

  FitOption option_of(const Settings& settings, int harm, std::string what) {
    FitOption option;
    option.changes = difference(start_, settings);
    option.settings = settings;
    option.plan = plan_of(settings);
    option.saved_bytes = static_cast<std::int64_t>(advice_.now.memory.total()) -
                         static_cast<std::int64_t>(option.plan.memory.total());
    option.time_ratio = time_of(option.plan) / std::max(1e-9, time_of(advice_.now));
    option.harm = harm;
    option.what = std::move(what);
    return option;
  }

  static double time_of(const Plan& plan) {
    return plan.estimated_seconds > 0 ? plan.estimated_seconds : plan.operations;
  }

  /// Tries each value of the choices from `first` on together with what is chosen already.
  void combine(std::size_t first, const Settings& settings, int harm) {
    if (advice_.cheapest && harm > advice_.cheapest->harm) return;
    if (first == choices().size()) return consider(settings, harm);
    const Choice& choice = choices()[first];
    combine(first + 1, settings, harm);
    int more = 0;
    for (const Settings& value : choice.values(settings, spec_, data_, device_)) {
      more += choice.harm;  // of ranks, the lower the worse
      combine(first + 1, value, harm + more);
    }
  }

  void consider(const Settings& settings, int harm) {
    if (!fits_in_memory(spec_, shape_of(settings), settings, device_for(settings))) return;
    FitOption option = option_of(settings, harm, {});
    const auto cost = [](const FitOption& one) {
      return std::make_tuple(one.harm, std::round(one.time_ratio * 200),
                             one.changes.size());  // half a per cent
    };
    if (!advice_.cheapest || cost(option) < cost(*advice_.cheapest)) advice_.cheapest = std::move(option);
  }

  const ModelSpec& spec_;
  const FitData& data_;
  const Settings& start_;
  const PlanDevice& device_;
  FitAdvice advice_;
  std::map<std::tuple<std::int64_t, std::int64_t, bool>, DataShape> shapes_;
};

}  // namespace

FitAdvice make_it_fit(const ModelSpec& spec, const FitData& data, const Settings& settings,
                      const PlanDevice& device) {
  return Search(spec, data, settings, device).run();
}

std::string as_flags(const std::vector<SettingChange>& changes) {
  std::string text;
  for (const SettingChange& change : changes) {
    // A list of texts is emptied by none.
    const std::string value = change.to.empty() ? "none" : change.to;
    text += (text.empty() ? "--" : " --") + change.key + " " + value;
  }
  return text;
}

}  // namespace lorikeet
