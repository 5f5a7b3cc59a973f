// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/infer/session.h"
#include "core/model/lora_adapter.h"
#include "core/text/prompt.h"

namespace lorikeet {

/// Answers the sample prompts of a run with the adapter as it is now, greedily, so that answers of different
/// steps can be compared word by word. Makes its session only when there are prompts.
class SamplePrompts {
 public:
  SamplePrompts(BaseModel& model, const LoraAdapter& adapter, const PromptFormat& format,
                std::vector<std::string> prompts, DType compute, double rope_linear_factor);

  /// Answers all prompts but the first `skip`. `between` is called after every token and may throw; `say`
  /// gets prompt and answer.
  void answer(std::size_t skip, const std::function<void()>& between,
              const std::function<void(const std::string&, const std::string&)>& say);

 private:
  const LoraAdapter& adapter_;
  const PromptFormat& format_;
  std::vector<std::string> prompts_;
  std::unique_ptr<Session> session_;
};

}  // namespace lorikeet
