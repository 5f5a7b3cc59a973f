// SPDX-License-Identifier: Apache-2.0
#include "core/train/sample_prompts.h"

#include "core/train/prepare.h"

namespace lorikeet {

SamplePrompts::SamplePrompts(BaseModel& model, const LoraAdapter& adapter, const PromptFormat& format,
                             std::vector<std::string> prompts, DType compute, double rope_linear_factor)
    : adapter_(adapter), format_(format), prompts_(std::move(prompts)) {
  if (prompts_.empty()) return;
  const std::int64_t context = sample_context(format, prompts_, model.spec());
  session_ = std::make_unique<Session>(model, compute, context, rope_linear_factor);
}

void SamplePrompts::answer(std::size_t skip, const std::function<void()>& between,
                           const std::function<void(const std::string&, const std::string&)>& say) {
  if (prompts_.empty()) return;
  Sampling sampling;
  sampling.greedy = true;
  sampling.seed = 1;
  sampling.max_new_tokens = sample_answer_tokens;
  for (std::size_t i = skip; i < prompts_.size(); ++i) {
    const std::string& prompt = prompts_[i];
    session_->set_adapters({{&adapter_, 1.0}});  // also empties the cache: the adapter's numbers have changed
    const auto ids = format_.encode_prompt({{"user", prompt}}).ids;
    if (static_cast<std::int64_t>(ids.size()) >= session_->context()) {
      say(prompt, "(The prompt is longer than the model's context.)");
      continue;
    }
    Generator generator(*session_, format_.tokenizer(), format_.stop_ids(), sampling);
    generator.start(ids);
    std::string answer;
    while (const auto piece = generator.next()) {
      answer += piece->text;
      if (between) between();
    }
    say(prompt, answer);
  }
}

}  // namespace lorikeet
