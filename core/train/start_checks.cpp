// SPDX-License-Identifier: Apache-2.0
#include "core/train/start_checks.h"

#include "core/model/adapter_files.h"

namespace lorikeet {
namespace {

void check_end_token(const PreparedData& data, std::vector<StartWarning>& warnings) {
  if (data.format->end_id() < 0) {
    warnings.push_back(
        {"no_end_token",
         "The prompt template has no end token: the model will not learn to stop. Choose a template "
         "that ends its answers"});
  } else if (data.train_end_rows == 0) {
    warnings.push_back(
        {"no_end_token",
         "No row has the end token among what is trained, so the model will not learn to stop: every "
         "answer is cut off at " +
             std::to_string(data.max_length) +
             " tokens. Raise max-length, or set too-long to drop or split"});
  }
}

void check_adapter(const PreparedData& data, const std::string& folder, const std::string& base_id,
                   std::vector<StartWarning>& warnings) {
  const AdapterNotes notes = read_adapter_notes(folder);
  if (notes.template_hash.empty()) {
    warnings.push_back(
        {"template_unknown", "The adapter " + folder +
                                 " does not say which prompt template it was trained with; this run "
                                 "uses \"" +
                                 data.format->format() + "\". Set template to the one it was trained with"});
  } else if (notes.template_hash != data.format->template_hash()) {
    warnings.push_back(
        {"template_differs", "The prompt template is not the one the adapter " + folder +
                                 " was trained with, so it has to learn the form anew. Set template "
                                 "to auto to take the adapter's"});
  } else if (notes.system != data.format->system()) {
    warnings.push_back({"system_differs", "The system text is not the one the adapter " + folder +
                                              " was trained with. Leave system empty to take the adapter's"});
  }
  if (!notes.base_id.empty() && !base_id.empty() && notes.base_id != base_id) {
    warnings.push_back({"base_differs", "The adapter " + folder + " was trained on another base model (" +
                                            notes.base_name + "). Take that base, or train a new adapter"});
  }
}

}  // namespace

std::vector<StartWarning> start_warnings(const PreparedData& data, const std::string& adapter_folder,
                                         const std::string& base_id) {
  std::vector<StartWarning> warnings;
  check_end_token(data, warnings);
  if (!adapter_folder.empty()) check_adapter(data, adapter_folder, base_id, warnings);
  return warnings;
}

}  // namespace lorikeet
