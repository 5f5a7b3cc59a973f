// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/run_maker.h"

#include <QDir>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

namespace lorikeet::test {
namespace {

double lossAt(std::int64_t step, double noise) {
  return 1.02 + 1.6 * std::exp(-static_cast<double>(step) / 150.0) + noise;
}

Json sampleAt(std::int64_t step, const char* answer) {
  return {{"type", "sample"},
          {"step", step},
          {"prompt", "Do you have a 28 inch tube in stock?"},
          {"answer", answer}};
}

}  // namespace

void appendSteps(RunFolder& folder, const MadeRun& run, std::int64_t from, std::int64_t to) {
  std::mt19937 random(7);
  std::normal_distribution<double> noise(0, 0.12);
  for (std::int64_t i = 1; i < from; ++i) noise(random);
  for (std::int64_t step = from; step <= to; ++step) {
    const double warm = std::max(1.0, 0.1 * static_cast<double>(run.total)), at = static_cast<double>(step);
    const double rate =
        at < warm ? 2e-4 * at / warm
                  : 2e-4 * (static_cast<double>(run.total) - at) / (static_cast<double>(run.total) - warm);
    folder.append({{"type", "step"},
                   {"step", step},
                   {"epoch", 3.0 * at / static_cast<double>(run.total)},
                   {"loss", lossAt(step, noise(random))},
                   {"learning_rate", rate},
                   {"grad_norm", 0.6 + 1.4 * std::exp(-at / 60) + 0.1 * std::fabs(noise(random))},
                   {"tokens", step * 3372},
                   {"trained_tokens", 1050},
                   {"tokens_per_second", run.tokensPerSecond + 60 * noise(random)},
                   {"memory_bytes", 7'850'000'000LL},
                   {"elapsed_seconds", at * 3372 / run.tokensPerSecond}});
    if (step % 100 == 0) {
      const double loss = lossAt(step, 0.06);
      folder.append({{"type", "eval"},
                     {"step", step},
                     {"loss", loss},
                     {"perplexity", std::exp(loss)},
                     {"accuracy", 0.71},
                     {"tokens", 26112}});
    }
    if (step % 200 == 0)
      folder.append(
          {{"type", "checkpoint"}, {"step", step}, {"path", "checkpoints/step-" + std::to_string(step)}});
    if (!run.samples) continue;
    if (step == 400)
      folder.append(sampleAt(step, "Yes, we have the 28 inch tube in stock. Which valve do you need?"));
    if (step == 800) folder.append(sampleAt(step, "Yes, both valve types. Shall we put one aside?"));
    if (step == 1200)
      folder.append(
          sampleAt(step, "Yes, both valve types. We can put one aside for you until Saturday. Shall we?"));
  }
}

QString makeRun(const QString& runs, const QString& name, const MadeRun& run) {
  const QString path = runs + QLatin1Char('/') + name;
  Job job;
  job.name = run.name.toStdString();
  job.model_path = run.model.toStdString();
  job.data_path = run.data.toStdString();
  QDir().mkpath(runs);
  RunFolder folder = RunFolder::create(path.toStdString(), job);
  folder.lock();
  folder.append({{"type", "state"}, {"state", "loading"}, {"why", "Reading the base model"}});
  folder.append({{"type", "state"}, {"state", "training"}, {"why", ""}, {"total_steps", run.total}});
  if (run.samples) {
    folder.append(
        sampleAt(0, "We have tubes in many sizes. A 28 inch tube is a tube with a size of 28 inches."));
  }
  appendSteps(folder, run, 1, run.steps);
  if (!run.error.isEmpty()) {
    folder.append({{"type", "error"},
                   {"code", "disk_full"},
                   {"what", run.error.toStdString()},
                   {"where", (path + "/checkpoints").toStdString()},
                   {"hint", "Free 212 MB, then go on with the run"}});
  }
  if (run.state != RunState::training)
    folder.append({{"type", "state"}, {"state", to_string(run.state)}, {"why", ""}});
  if (run.state == RunState::done) {
    QDir().mkpath(path + QStringLiteral("/adapter"));
    folder.append({{"type", "done"}, {"adapter", "adapter"}, {"best_step", run.steps}});
  }
  return path;
}

}  // namespace lorikeet::test
