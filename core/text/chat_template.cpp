// SPDX-License-Identifier: Apache-2.0
#include "core/text/chat_template.h"

#include "kernels/base/error.h"

namespace lorikeet {

struct ChatTemplate::Impl {
  std::string source;
};

ChatTemplate::ChatTemplate(std::string) {
  throw Error(ErrorCode::unsupported, "Chat templates are not built yet", "template",
              "Use --template alpaca");
}
ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate& ChatTemplate::operator=(ChatTemplate&&) noexcept = default;
ChatTemplate::~ChatTemplate() = default;

RenderedChat ChatTemplate::render(const std::vector<Message>&, bool, const Tokenizer&) const {
  return {};
}
const std::string& ChatTemplate::source() const {
  return impl_->source;
}

}  // namespace lorikeet
