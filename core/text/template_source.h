// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace lorikeet {

/// Which prompt format a setting means, and its template text.
struct TemplateSource {
  std::string format;  ///< "chat", "alpaca" or "none"
  std::string text;    ///< Jinja source of "chat", else ""
};

/// `setting` as in PromptFormat::choose(); `carried` is an adapter's template, `own` the model's ("" = none).
/// Throws Error(not_found) for a name that is neither known nor a file, Error(bad_format) for a file that
/// does not look like a template as it should be used: line breaks written as backslash n outside of texts,
/// with line and column.
TemplateSource find_template(const std::string& setting, const std::string& carried, const std::string& own);

}  // namespace lorikeet
