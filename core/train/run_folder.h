// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/files.h"
#include "core/base/json.h"
#include "core/train/micro_batches.h"
#include "core/train/settings.h"

namespace lorikeet {

/// job.json: all that is needed to repeat a run.
struct Job {
  std::string name;            ///< for people
  std::string model_path;      ///< absolute
  std::string data_path;       ///< absolute
  std::string adapter_path;    ///< go on from this adapter, "" = a fresh one
  std::string adapter_sha256;  ///< of that adapter's weights, filled by the engine
  std::string base_id;         ///< design.md §10, filled by the engine
  std::string base_name;
  std::string data_sha256;
  std::string eval_data_sha256;  ///< of the file eval-data names, "" = none
  std::string template_hash;
  std::string engine_version;
  std::string question;  ///< asked before and after by the sample job, "" = none
  Settings settings;
  std::vector<std::pair<std::string, std::string>> machine;  ///< threads, instruction set, library versions
  std::vector<StepShapeChange> shape_changes;                ///< where memory was refused (micro_batches.h)
};
Json job_to_json(const Job& job);
/// `base` are the settings a job file that leaves some out starts from.
Job job_from_json(const Json& json, const std::string& name, const Settings& base = {});

enum class RunState : std::uint8_t {
  loading,
  training,
  evaluating,
  pausing,
  paused,
  waiting,
  stopping,
  done,
  failed
};
const char* to_string(RunState state);
std::optional<RunState> run_state_from(const std::string& text);

/// One optimiser step as events.jsonl has it (design.md §10).
struct StepEvent {
  std::int64_t step = 0;
  double epoch = 0, loss = 0, learning_rate = 0, grad_norm = 0;
  std::int64_t tokens = 0;          ///< cumulative, all
  std::int64_t trained_tokens = 0;  ///< of this step
  double tokens_per_second = 0;
  std::int64_t memory_bytes = 0;
  double elapsed_seconds = 0;  ///< sum over resumes
};
struct EvalEvent {
  std::int64_t step = 0;
  double loss = 0, perplexity = 0, accuracy = 0;
  std::int64_t tokens = 0;
};
struct SampleEvent {
  std::int64_t step = 0;
  std::string prompt, answer;
};
struct CheckpointEvent {
  std::int64_t step = 0;
  std::string path;  ///< relative to the run folder
};

/// Norms of the adapter by layer at a step: gradient before clipping, what the step changed, parameters
/// after.
struct NormsEvent {
  std::int64_t step = 0;
  std::vector<double> gradient, update, parameter;
};
/// What the data gave, said once before the first step.
struct DataEvent {
  std::int64_t rows = 0, evaluation_rows = 0;
  std::int64_t tokens = 0, trained_tokens = 0;  ///< of one epoch
  std::int64_t refused_rows = 0, cut_rows = 0;
};
/// Memory was refused: the run goes on with smaller micro-batches or more layers recomputed.
struct MemoryEvent {
  std::int64_t step = 0;  ///< the first one computed so
  std::int64_t micro_batch_tokens = 0, recomputed_layers = 0;
  std::int64_t planned_bytes = 0;  ///< what the plan says now
  std::string why;
};

struct WarningEvent {
  std::string code, what;
};
struct ErrorEvent {
  std::string code, what, where, hint;
};
struct DoneEvent {
  std::string adapter;  ///< relative to the run folder
  std::int64_t best_step = 0;
  std::string best;  ///< folder of the adapter of that step, "" = none
};

/// What a reader knows of a run after replaying events.jsonl: lines beyond a resume's step are dropped.
struct RunHistory {
  RunState state = RunState::loading;
  std::string state_why;
  double last_time = 0;                ///< unix seconds of the last line
  std::int64_t total_steps = 0;        ///< planned, 0 = not known yet
  std::optional<double> seconds_left;  ///< as last said by the engine, from seconds_left_time on
  double seconds_left_time = 0;        ///< unix seconds
  bool rehearsing = false;             ///< a rehearsal was begun that did not go well, so far
  bool rehearsed = false;              ///< a rehearsal went well
  std::vector<StepEvent> steps;
  std::vector<EvalEvent> evaluations;
  std::vector<SampleEvent> samples;
  std::vector<CheckpointEvent> checkpoints;
  std::vector<NormsEvent> norms;
  std::optional<DataEvent> data;
  /// Seconds by phase up to the last state line, sum over resumes: load, train, evaluate, sample, save, wait.
  std::vector<std::pair<std::string, double>> seconds_by_phase;
  std::vector<MemoryEvent> memory;
  std::vector<WarningEvent> warnings;
  std::optional<ErrorEvent> error;
  std::optional<DoneEvent> done;
};

/// Replays events.jsonl piece by piece: hand it each new part of the file; a torn last line waits for its
/// rest.
class EventReader {
 public:
  /// Consumes the complete lines of `text` and adds them to the history. Broken lines become a warning, not
  /// an error.
  void feed(std::string_view text);
  const RunHistory& history() const { return history_; }

 private:
  void apply(const Json& event);
  RunHistory history_;
  std::string rest_;
};

enum class ControlRequest : std::uint8_t { pause, resume, stop, checkpoint };

/// The only reader and writer of a run folder (design.md §1, §10). Opening for reading takes no lock.
class RunFolder {
 public:
  /// Makes the folder with job.json, control/, checkpoints/ (an existing run is refused) or opens it.
  static RunFolder create(const std::string& path, const Job& job);
  static RunFolder open(const std::string& path);

  const std::string& path() const { return path_; }
  std::string log_path() const { return path_ + "/engine.log"; }
  std::string adapter_path() const { return path_ + "/adapter"; }  ///< of the last step
  std::string best_path() const { return path_ + "/best"; }        ///< adapter of the best evaluation
  std::string checkpoint_path(std::int64_t step) const;
  Job read_job() const;
  void write_job(const Job& job) const;

  /// Reads the whole of events.jsonl.
  RunHistory read_history() const;
  bool is_alive() const;  ///< an engine holds run/lock
  /// Ended without a last word: not alive, and the last state is neither done nor failed.
  bool was_killed() const;

  /// --- Studio and command line: ask the engine for something.
  void request(ControlRequest request) const;

  /// --- Engine: hold the run, append events, take requests.
  void lock();  ///< throws Error(locked) when another engine holds it
  /// Adds "time" and writes one line, flushed to the kernel. When that fails no part of the line stays.
  /// Throws Error(not_found) while the folder is not where it was; when it is back, or a copy of it, events
  /// go on there.
  void append(const Json& event);
  void sync_events();    ///< fsync, before a checkpoint's manifest
  void cut_torn_line();  ///< on resume
  std::optional<ControlRequest> pending_request() const;
  void acknowledge(ControlRequest request);  ///< removes its file

 private:
  explicit RunFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
  std::string events_path() const { return path_ + "/events.jsonl"; }
  void open_events();
  void follow_events();
  void cut_torn_append();

  std::unique_ptr<FileLock> lock_;
  OwnedDescriptor events_;
  std::int64_t torn_at_ =
      -1;  ///< where a line began that could not be written whole nor cut again; -1 = none
};

/// Folders under `runs_folder` that hold a job.json, newest first.
std::vector<std::string> list_runs(const std::string& runs_folder);

}  // namespace lorikeet
