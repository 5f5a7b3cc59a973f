// SPDX-License-Identifier: Apache-2.0
#include "core/infer/chat_engine.h"

#include <algorithm>
#include <chrono>

#include "core/model/adapter_start.h"
#include "core/model/compute_choice.h"
#include "core/train/prepare.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

constexpr std::int64_t default_context = 4096;

/// The answer's first token after nothing but a begin token: the space that the tokenizer put before the
/// first word of a text is not part of the text.
bool begins_text(const std::vector<TokenId>& prompt, const Tokenizer& tokenizer) {
  return std::all_of(prompt.begin(), prompt.end(), [&](TokenId id) { return tokenizer.is_special(id); });
}

}  // namespace

struct ChatEngine::Impl {
  std::string path;
  Settings settings;
  ModelSpec spec;
  std::shared_ptr<const Tokenizer> tokenizer;
  std::shared_ptr<const PromptFormat> format;
  std::unique_ptr<Backend> backend;
  DType compute = DType::f32;
  std::unique_ptr<BaseModel> model;
  std::vector<LoraAdapter> adapters;
  std::int64_t context = 0;
  std::unique_ptr<Session> session;
};

ChatEngine::ChatEngine(const std::string& model_path, const Settings& settings, std::int64_t context,
                       std::stop_token stop)
    : impl_(std::make_unique<Impl>()) {
  Impl& c = *impl_;
  c.path = model_path;
  c.settings = settings;
  c.spec = read_model_spec(model_path);
  c.tokenizer = load_tokenizer(model_path);
  c.format = choose_format(c.spec, settings, "", c.tokenizer);
  c.backend = make_backend_for(settings);
  c.compute = resolved_compute(settings, *c.backend);
  c.model = std::make_unique<BaseModel>(
      load_base_model(*c.backend, model_path, c.spec, settings, c.compute, std::move(stop)));
  c.context = context > 0 ? context : std::min(default_context, c.spec.context);
  c.session = std::make_unique<Session>(*c.model, c.compute, c.context);
}

ChatEngine::~ChatEngine() = default;

void ChatEngine::set_adapters(const std::vector<ChatAdapter>& adapters) {
  Impl& c = *impl_;
  std::vector<LoraAdapter> loaded;
  for (const auto& adapter : adapters)
    loaded.push_back(LoraAdapter::load(*c.backend, c.spec, adapter.folder));
  for (std::size_t i = 0; i < loaded.size(); ++i)
    require_fitting_base(loaded[i].notes(), c.settings.quantization, adapters[i].folder);
  const double factor = loaded.empty() ? 1 : std::max(1.0, loaded.front().notes().rope_linear_factor);
  for (const auto& adapter : loaded) {
    if (std::max(1.0, adapter.notes().rope_linear_factor) != factor) {
      throw Error(ErrorCode::invalid_argument, "These adapters were trained with different RoPE stretches",
                  adapters.front().folder, "Use them one at a time");
    }
  }
  auto format =
      choose_format(c.spec, c.settings, adapters.empty() ? "" : adapters.front().folder, c.tokenizer);
  std::vector<std::pair<const LoraAdapter*, double>> active;
  for (std::size_t i = 0; i < loaded.size(); ++i) active.emplace_back(&loaded[i], adapters[i].strength);
  c.session->set_adapters(active, factor);
  // The old ones lived until here: where memory ran out the session still has them. Moving the vector keeps
  // its elements, and so the pointers, where they are.
  c.adapters = std::move(loaded);
  c.format = std::move(format);
}

ChatStats ChatEngine::answer(const std::vector<Message>& messages, const Sampling& sampling,
                             const std::function<void(const std::string&)>& say, std::stop_token stop) {
  Impl& c = *impl_;
  const auto ids = c.format->encode_prompt(messages).ids;
  Generator generator(*c.session, *c.tokenizer, c.format->stop_ids(), sampling);
  ChatStats stats;
  stats.prompt_tokens = static_cast<std::int64_t>(ids.size());
  stats.context = c.context;
  stats.seed = generator.sampling().seed;
  generator.start(ids, stop);
  const auto start = std::chrono::steady_clock::now();
  bool at_text_start = begins_text(ids, *c.tokenizer);
  while (auto piece = generator.next(stop)) {
    if (at_text_start && !piece->text.empty()) {
      const bool has_dummy_space =
          piece->text.front() == ' ' && !c.tokenizer->decode({piece->id}).starts_with(' ');
      if (has_dummy_space) piece->text.erase(0, 1);
      at_text_start = false;
    }
    if (!piece->text.empty()) say(piece->text);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  stats.tokens = generator.generated_tokens();
  stats.tokens_per_second = seconds > 0 ? static_cast<double>(stats.tokens) / seconds : 0;
  stats.reason = generator.stop_reason();
  return stats;
}

const ModelSpec& ChatEngine::spec() const {
  return impl_->spec;
}
const PromptFormat& ChatEngine::format() const {
  return *impl_->format;
}
std::int64_t ChatEngine::context() const {
  return impl_->context;
}

}  // namespace lorikeet
