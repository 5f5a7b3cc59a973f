// SPDX-License-Identifier: Apache-2.0
#include "core/data/messages.h"

#include <array>
#include <functional>

namespace lorikeet {
namespace {

struct RoleWord {
  std::string_view word, role;
};
/// Spellings met in published data sets.
constexpr std::array<RoleWord, 27> role_words = {{
    {"system", "system"},
    {"developer", "system"},
    {"user", "user"},
    {"human", "user"},
    {"prompter", "user"},
    {"customer", "user"},
    {"student", "user"},
    {"assistant", "assistant"},
    {"gpt", "assistant"},
    {"model", "assistant"},
    {"bot", "assistant"},
    {"ai", "assistant"},
    {"chatgpt", "assistant"},
    {"bing", "assistant"},
    {"bard", "assistant"},
    {"claude", "assistant"},
    {"gemini", "assistant"},
    {"chatbot", "assistant"},
    {"teacher", "assistant"},
    {"tool", "tool"},
    {"function", "tool"},
    {"observation", "tool"},
    {"function_response", "tool"},
    {"tool_response", "tool"},
    {"ipython", "tool"},
    {"function_call", "assistant"},
    {"tool_call", "assistant"},
}};

const JsonMember* named(const std::vector<JsonMember>& members,
                        std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    for (auto member = members.rbegin(); member != members.rend(); ++member) {
      if (member->key == name) return &*member;
    }
  }
  return nullptr;
}

/// Calls `use` for each value of a JSON list that was scanned before; ends at the first reason.
std::string for_each_value(std::string_view list, const std::function<std::string(const JsonSlice&)>& use) {
  JsonScanner scanner(list, true);
  scanner.skip_space();
  if (scanner.peek() != '[') return "is no list";
  scanner.advance();
  for (;;) {
    scanner.skip_space();
    if (scanner.peek() == ']') return {};
    JsonSlice value;
    if (scanner.value(value) != ScanResult::complete) return "is not valid JSON";
    if (std::string reason = use(value); !reason.empty()) return reason;
    scanner.skip_space();
    if (scanner.peek() == ',') scanner.advance();
  }
}

bool members_of(const JsonSlice& object, std::vector<JsonMember>& members) {
  if (object.kind != JsonKind::object) return false;
  JsonScanner scanner(object.text, true);
  return scanner.object(members) == ScanResult::complete;
}

/// The text of a string, number or truth value; "" for null.
std::string plain_text(const JsonSlice& value, std::string& text) {
  text.clear();
  if (value.kind == JsonKind::null) return {};
  if (!value.escaped) {
    text = value.text;
    return {};
  }
  return decode_json_string(value.text, text) ? "" : "holds half of a surrogate pair, which is no character";
}

/// A part of a content list: a text, or an object {"type": "text", "text": ...}.
std::string add_part(const JsonSlice& part, std::string& text) {
  std::string piece;
  JsonSlice value = part;
  if (part.kind == JsonKind::object) {
    std::vector<JsonMember> members;
    members_of(part, members);
    const JsonMember* type = named(members, {"type"});
    const JsonMember* inner = named(members, {"text", "value"});
    if ((type && type->value.text != "text") || !inner)
      return "holds a part that is no text (" +
             (type ? std::string(type->value.text.substr(0, 40)) : "no type") + ")";
    value = inner->value;
  }
  if (value.kind == JsonKind::array || value.kind == JsonKind::object) return "holds a part that is no text";
  if (std::string reason = plain_text(value, piece); !reason.empty()) return reason;
  text += piece;
  return {};
}

std::string take_content(const JsonSlice& value, std::string& text) {
  if (value.kind == JsonKind::object) return "is an object, not text";
  if (value.kind != JsonKind::array) return plain_text(value, text);
  text.clear();
  return for_each_value(value.text, [&](const JsonSlice& part) { return add_part(part, text); });
}

std::string take_role(const JsonSlice& role, Message& message) {
  if (role.kind != JsonKind::string) return "has no role";
  message.role = standard_role(role.text);
  if (!message.role.empty()) return {};
  return "has the role \"" + std::string(role.text.substr(0, 40)) +
         "\", which is none of system, user, assistant and tool";
}

std::string take_turn(const JsonSlice& turn, Message& message, MessageNotes& notes) {
  std::vector<JsonMember> members;
  if (!members_of(turn, members)) return "is no object with a role and a content";
  const JsonMember* role = named(members, {"role", "from"});
  if (!role) return "has no role";
  if (std::string reason = take_role(role->value, message); !reason.empty()) return reason;
  const JsonMember* content = named(members, {"content", "value", "text"});
  const JsonMember* calls = named(members, {"tool_calls", "function_call"});
  const bool has_calls = calls && calls->value.kind != JsonKind::null && !calls->value.empty;
  if (!content && !has_calls) return "has no content";
  notes.from_value |= role->key == "from";
  if (content) {
    if (std::string reason = take_content(content->value, message.content); !reason.empty()) return reason;
  }
  if (has_calls) {
    notes.tool_calls = true;
    message.content += (message.content.empty() ? "" : "\n") + compact_json(calls->value.text);
  }
  const JsonMember* weight = named(members, {"weight", "loss_weight", "train", "training"});
  if (weight && message.role == "assistant") {
    const std::string_view text = weight->value.text;
    message.trained = text != "0" && text != "0.0" && text != "false";
  }
  return {};
}

std::string at_turn(std::size_t number, const std::string& problem) {
  return problem.empty() ? problem : "Turn " + std::to_string(number) + " " + problem;
}

/// {"from": [...], "value": [...]}: what Hugging Face's Sequence of structures is stored as.
std::string parse_columns_of_turns(const JsonSlice& object, std::vector<Message>& messages,
                                   MessageNotes& notes) {
  std::vector<JsonMember> members;
  members_of(object, members);
  const JsonMember* role = named(members, {"role", "from"});
  const JsonMember* content = named(members, {"content", "value", "text"});
  if (!role || !content || role->value.kind != JsonKind::array || content->value.kind != JsonKind::array)
    return "The conversation is no list of turns";
  notes.from_value |= role->key == "from";
  std::vector<JsonSlice> roles, contents;
  const auto collect = [](const JsonMember& list, std::vector<JsonSlice>& values) {
    for_each_value(list.value.text, [&](const JsonSlice& value) {
      values.push_back(value);
      return std::string();
    });
  };
  collect(*role, roles);
  collect(*content, contents);
  if (roles.size() != contents.size())
    return "The conversation has " + std::to_string(roles.size()) + " roles and " +
           std::to_string(contents.size()) + " contents";
  if (roles.empty()) return "The conversation is empty";
  for (std::size_t i = 0; i < roles.size(); ++i) {
    Message& message = messages.emplace_back();
    std::string reason = take_role(roles[i], message);
    if (reason.empty()) reason = take_content(contents[i], message.content);
    if (!reason.empty()) return at_turn(i + 1, reason);
  }
  return {};
}

}  // namespace

std::string_view standard_role(std::string_view word) {
  std::string small(word.substr(0, 40));
  for (char& c : small) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const RoleWord& known : role_words) {
    if (known.word == small) return known.role;
  }
  return {};
}

std::string parse_messages(const JsonSlice& list, std::vector<Message>& messages, MessageNotes& notes) {
  messages.clear();
  JsonSlice value = list;
  std::string decoded;
  if (list.kind == JsonKind::string) {  // JSON inside a text
    if (std::string reason = plain_text(list, decoded); !reason.empty()) return "The conversation " + reason;
    JsonScanner scanner(decoded, true);
    scanner.skip_space();
    if (scanner.value(value) != ScanResult::complete)
      return "The conversation is a text that is no JSON list";
  }
  if (value.kind == JsonKind::object) return parse_columns_of_turns(value, messages, notes);
  if (value.kind != JsonKind::array) return "The conversation is no list of turns";
  std::string reason = for_each_value(value.text, [&](const JsonSlice& turn) {
    const std::string problem = take_turn(turn, messages.emplace_back(), notes);
    return at_turn(messages.size(), problem);
  });
  if (reason.empty() && messages.empty()) return "The conversation is empty";
  return reason;
}

std::string parse_history(const JsonSlice& list, std::vector<Message>& messages) {
  if (list.kind == JsonKind::null || list.empty) return {};
  return for_each_value(list.text, [&](const JsonSlice& pair) -> std::string {
    std::vector<std::string> texts;
    std::string reason = "The history is no list of pairs";
    if (pair.kind != JsonKind::array) return reason;
    const std::string problem = for_each_value(pair.text, [&](const JsonSlice& text) -> std::string {
      if (text.kind == JsonKind::array || text.kind == JsonKind::object) return "no text";
      return plain_text(text, texts.emplace_back());
    });
    if (!problem.empty() || texts.size() != 2) return reason;
    messages.push_back({"user", std::move(texts[0])});
    messages.push_back({"assistant", std::move(texts[1])});
    return {};
  });
}

std::string compact_json(std::string_view text) {
  std::string compact;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\' && i + 1 < text.size()) {
      compact += c;
      compact += text[++i];
      continue;
    }
    if (c == '"') in_string = !in_string;
    if (in_string || (c != ' ' && c != '\n' && c != '\r' && c != '\t')) compact += c;
  }
  return compact;
}

}  // namespace lorikeet
