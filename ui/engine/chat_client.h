// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QJsonObject>
#include <QObject>
#include <QString>
#include <vector>

#include "ui/widgets/banner.h"

namespace lorikeet::ui {

class EngineProcess;

struct ChatMessage {
  QString role, content;
};

struct ChatAdapterUse {
  QString folder;
  double strength = 1;
};

/// How answers are drawn; names as in the chat protocol.
struct SamplingChoice {
  bool greedy = false;
  double temperature = 0.7, topP = 0.95, minP = 0.05, repeatPenalty = 1.0;
  int topK = 40, longest = 512;
  qint64 seed = 3407;
  QJsonObject json() const;
};

struct ChatStats {
  double tokensPerSecond = 0;
  qint64 promptTokens = 0, tokens = 0, context = 0;
};

/// Client of `lorikeet chat --json`: one resident base model, adapters set before each message, answers as
/// they come. Requests are numbered; every signal carries the number it belongs to.
class ChatClient : public QObject {
  Q_OBJECT
 public:
  explicit ChatClient(const QString& engine, QObject* parent = nullptr);

  /// Starts the engine when it is not running and loads a base model.
  int load(const QString& modelPath);
  int setAdapters(const std::vector<ChatAdapterUse>& adapters);
  int message(const std::vector<ChatMessage>& messages, const SamplingChoice& sampling);
  /// Ends the answer that is being given.
  void stopAnswer();
  void close();
  bool isRunning() const;

 signals:
  void loaded(int id, const QString& name, qint64 context, const QString& format);
  void token(int id, const QString& text);
  void stats(int id, const lorikeet::ui::ChatStats& stats);
  void done(int id, const QString& reason);
  void failed(int id, const lorikeet::ui::Problem& problem);
  /// The engine is gone; `why` is empty when it was closed.
  void ended(const QString& why);

 private:
  int send(QJsonObject request);
  void receive(const QJsonObject& line);
  EngineProcess* m_engine;
  int m_next = 1;
};

}  // namespace lorikeet::ui
