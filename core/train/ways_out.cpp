// SPDX-License-Identifier: Apache-2.0
// What to change when a run does not fit, each change tried alone.
#include <algorithm>
#include <optional>

#include "core/train/plan.h"

namespace lorikeet {
namespace {

constexpr std::int64_t shortest_length = 128;  ///< tokens; below it rows of instructions lose their answers

/// The rows as they would be with these settings, at most: they are not tokenised again for a guess.
DataShape shape_with(DataShape data, const Settings& settings) {
  if (settings.max_length > 0) data.longest_row = std::min(data.longest_row, settings.max_length);
  data.fullest_bins_sum = 0;  // other bins
  data.longest_rows_sum = std::min(data.longest_rows_sum, settings.batch_size * data.longest_row);
  return data;
}

/// The largest smaller batch that fits, with the same rows a step.
std::optional<std::string> smaller_batch(const ModelSpec& spec, const DataShape& data, Settings settings,
                                         const PlanDevice& device) {
  const std::int64_t rows = settings.batch_size * settings.accumulation;
  while (settings.batch_size > 1) {
    settings.batch_size /= 2;
    settings.accumulation = (rows + settings.batch_size - 1) / settings.batch_size;
    if (!fits_in_memory(spec, shape_with(data, settings), settings, device)) continue;
    return "--batch-size " + std::to_string(settings.batch_size) + " --accumulation " +
           std::to_string(settings.accumulation);
  }
  return std::nullopt;
}

std::optional<std::string> shorter_rows(const ModelSpec& spec, const DataShape& data, Settings settings,
                                        const PlanDevice& device) {
  settings.max_length = resolved_max_length(settings, spec);
  while (settings.max_length / 2 >= shortest_length) {
    settings.max_length /= 2;
    if (fits_in_memory(spec, shape_with(data, settings), settings, device))
      return "--max-length " + std::to_string(settings.max_length);
  }
  return std::nullopt;
}

/// The setting with this value, where that is a change and fits.
std::optional<std::string> other_value(const ModelSpec& spec, const DataShape& data, Settings settings,
                                       const PlanDevice& device, const char* key, const char* value) {
  if (setting_text(settings, key) == value) return std::nullopt;
  set_setting(settings, key, value);
  if (!fits_in_memory(spec, data, settings, device)) return std::nullopt;
  return std::string("--") + key + " " + value;
}

/// The processor, if this is a GPU and its own memory would do.
std::optional<std::string> processor(const ModelSpec& spec, const DataShape& data, Settings settings,
                                     const PlanDevice& device) {
  if (!device.is_cuda || device.host_free_bytes == 0) return std::nullopt;
  const bool offload = settings.offload, f16 = settings.compute == "f16";
  settings.offload = false;
  PlanDevice cpu{device.host_free_bytes / 10 * 9, device.cpu_compute_bytes, false};
  if (settings.compute == "f32") cpu.compute_bytes = 4;
  if (!fits_in_memory(spec, data, settings, cpu)) return std::nullopt;
  return std::string("--device cpu") + (offload ? " --offload false" : "") + (f16 ? " --compute auto" : "");
}

}  // namespace

std::string ways_out(const ModelSpec& spec, const DataShape& data, const Settings& settings,
                     const PlanDevice& device) {
  std::vector<std::string> ways;
  const auto add = [&ways](const std::optional<std::string>& way) {
    if (way) ways.push_back(*way);
  };
  add(smaller_batch(spec, data, settings, device));  // the result stays the same
  if (device.is_cuda) {  // the other way round where the host's memory is what is short
    const char* other = settings.offload ? "false" : "true";
    add(other_value(spec, data, settings, device, "offload", other));
  }
  add(other_value(spec, data, settings, device, "quantization", "nf4"));
  add(shorter_rows(spec, data, settings, device));
  std::string text;
  for (std::size_t i = 0; i < ways.size(); ++i)
    text += (i == 0 ? "Use " : i + 1 < ways.size() ? ", " : " or ") + ways[i];
  if (ways.empty()) text = "Take a smaller model, or lower batch-size and max-length together";
  if (const auto cpu = processor(spec, data, settings, device)) text += ", or use " + *cpu;
  return text;
}

}  // namespace lorikeet
