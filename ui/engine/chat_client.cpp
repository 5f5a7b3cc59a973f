// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/engine/chat_client.h"

#include <QJsonArray>

#include "ui/engine/engine_process.h"

namespace lorikeet::ui {

QJsonObject SamplingChoice::json() const {
  return {{QStringLiteral("greedy"), greedy}, {QStringLiteral("temperature"), temperature},
          {QStringLiteral("top_k"), topK},    {QStringLiteral("top_p"), topP},
          {QStringLiteral("min_p"), minP},    {QStringLiteral("repeat_penalty"), repeatPenalty},
          {QStringLiteral("seed"), seed},     {QStringLiteral("max_new_tokens"), longest}};
}

ChatClient::ChatClient(const QString& engine, QObject* parent)
    : QObject(parent), m_engine(new EngineProcess(engine, this)) {
  connect(m_engine, &EngineProcess::message, this, &ChatClient::receive);
  connect(m_engine, &EngineProcess::ended, this, [this](int, const QString& why) { emit ended(why); });
}

bool ChatClient::isRunning() const {
  return m_engine->isRunning();
}

int ChatClient::send(QJsonObject request) {
  const int id = m_next++;
  request.insert(QStringLiteral("id"), id);
  m_engine->send(request);
  return id;
}

int ChatClient::load(const QString& modelPath) {
  if (!m_engine->isRunning()) m_engine->start({QStringLiteral("chat"), QStringLiteral("--json")});
  return send({{QStringLiteral("op"), QStringLiteral("load")},
               {QStringLiteral("model"), modelPath},
               {QStringLiteral("template"), QStringLiteral("auto")},
               {QStringLiteral("device"), QStringLiteral("auto")}});
}

int ChatClient::setAdapters(const std::vector<ChatAdapterUse>& adapters) {
  QJsonArray list;
  for (const ChatAdapterUse& adapter : adapters) {
    list.append(QJsonObject{{QStringLiteral("path"), adapter.folder},
                            {QStringLiteral("strength"), adapter.strength}});
  }
  return send({{QStringLiteral("op"), QStringLiteral("adapters")}, {QStringLiteral("adapters"), list}});
}

int ChatClient::message(const std::vector<ChatMessage>& messages, const SamplingChoice& sampling) {
  QJsonArray list;
  for (const ChatMessage& message : messages) {
    list.append(
        QJsonObject{{QStringLiteral("role"), message.role}, {QStringLiteral("content"), message.content}});
  }
  return send({{QStringLiteral("op"), QStringLiteral("message")},
               {QStringLiteral("messages"), list},
               {QStringLiteral("sampling"), sampling.json()}});
}

void ChatClient::stopAnswer() {
  send({{QStringLiteral("op"), QStringLiteral("stop")}});
}
void ChatClient::close() {
  m_engine->stop();
}

void ChatClient::receive(const QJsonObject& line) {
  const auto text = [&](const char* key) { return line.value(QLatin1String(key)).toString(); };
  const auto number = [&](const char* key) { return line.value(QLatin1String(key)).toDouble(); };
  const int id = line.value(QLatin1String("id")).toInt();
  const QString type = text("type");
  if (type == QLatin1String("token")) {
    emit token(id, text("text"));
  } else if (type == QLatin1String("loaded")) {
    emit loaded(id, text("name"), static_cast<qint64>(number("context")), text("format"));
  } else if (type == QLatin1String("stats")) {
    emit stats(id, {number("tokens_per_second"), static_cast<qint64>(number("prompt_tokens")),
                    static_cast<qint64>(number("tokens")), static_cast<qint64>(number("context"))});
  } else if (type == QLatin1String("done")) {
    emit done(id, text("reason"));
  } else if (type == QLatin1String("error")) {
    emit failed(id, {text("what"), text("where"), text("hint")});
  }
}

}  // namespace lorikeet::ui
