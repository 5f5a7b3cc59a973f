// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/data/packing.h"
#include "core/model/lora_adapter.h"
#include "core/model/transformer.h"
#include "core/train/evaluate.h"
#include "core/train/optimizer.h"
#include "core/train/micro_batches.h"
#include "core/train/plan.h"
#include "core/train/run_folder.h"
#include "core/train/schedule.h"

namespace lorikeet {

/// What one optimiser step gave.
struct StepReport {
  std::int64_t step = 0;  ///< 1-based, after the step
  double epoch = 0;
  double loss = 0;  ///< sum over trained tokens / number of trained tokens of the whole step
  double learning_rate = 0;
  double grad_norm = 0;     ///< before clipping
  double weight_norm = 0;   ///< of the adapter after the step; not finite when a weight is not
  std::int64_t tokens = 0;  ///< of this step, all
  std::int64_t trained_tokens = 0;
  bool skipped = false;            ///< a loss or gradient was not finite: nothing was changed
  double loss_scale = 1;           ///< what gradients were multiplied with while computed; not 1 in f16 only
  std::vector<std::int64_t> rows;  ///< row numbers in the file, as trained
  std::vector<LayerNorms> layers;  ///< of the adapter, layer by layer; empty but in every norms_every-th step

  /// In f16 a scaled gradient that is too large is how the right scale is found: no fault of the rows.
  bool searches_scale() const { return skipped && loss_scale > 1 && std::isfinite(loss); }
};

/// The training loop's arithmetic. The caller drives it step by step; no thread, no files but in save and
/// restore. Data order is a pure function of (seed, epoch, index), so a checkpoint needs one step number.
class Trainer {
 public:
  struct Parts {
    BaseModel* model = nullptr;
    LoraAdapter* adapter = nullptr;
    const std::vector<TokenRow>* train_rows = nullptr;
    const std::vector<TokenRow>* evaluation_rows = nullptr;
    Settings settings;
    Plan plan;
    DType compute = DType::f32;
    double rope_linear_factor = 1;  ///< design.md §10, "RoPE beyond the context"
    std::int64_t norms_every = 0;   ///< steps between measurements of the adapter's norms, 0 = never
    std::vector<StepShapeChange> shape_changes = {};  ///< of the run so far, where memory was refused
  };
  explicit Trainer(Parts parts);
  ~Trainer();

  std::int64_t step_number() const;  ///< steps finished
  std::int64_t total_steps() const;
  std::int64_t tokens_seen() const;      ///< in finished steps
  std::int64_t skipped_steps() const;    ///< of them
  std::size_t arena_peak_bytes() const;  ///< largest use of the activation arena so far
  /// Gradients f32 of the step that was begun last (with look-ahead that is the one behind the last finished
  /// one), before clipping, laid out as the adapter's parameters. In f16 they are multiples by that step's
  /// loss scale (StepReport::loss_scale): divide by it. Not finite where the step is skipped.
  TensorView gradients() const;
  bool finished() const { return step_number() >= total_steps(); }

  /// One optimiser step: begin_step and finish_step. `between` is called between layers (where the device
  /// works on its own: while it is waited for) and may throw Error(cancelled).
  StepReport step(const std::function<void()>& between = {});
  /// Gives the device forward and backward of all micro-batches of the next step. Nothing is changed by them:
  /// a step that is only begun can be dropped. When `between` throws, the step has not begun.
  void begin_step(const std::function<void()>& between = {});
  /// Gives the update of the step that was begun, with `look_ahead` begins the one behind it (unless it was
  /// the last), and then waits for the outcome. The device decides about clipping and skipping. When
  /// `between` throws, what had been given stays given: ask in_flight(), and finish it by another call.
  StepReport finish_step(const std::function<void()>& between = {}, bool look_ahead = false);
  bool begun() const;      ///< a step is begun whose update has not been given
  bool in_flight() const;  ///< an update has been given whose outcome has not been taken
  /// Forgets the step that was begun, as if it had not.
  void drop_step();
  /// Over all evaluation rows, in groups as large as memory allows.
  Evaluation evaluate(const std::function<void()>& between = {});
  /// Throws Error(numeric) when the adapter holds a value that is not finite.
  void require_finite() const;

  /// After a call threw Error(out_of_memory): drops the step that was begun, gives its memory back and
  /// computes from here on with smaller micro-batches, or with more layers recomputed. The call can be
  /// repeated then; the step has the same rows in the same order. Nothing when there is no smaller way.
  std::optional<StepShapeChange> take_less_memory();

  /// Writes adapter, optimiser state and position after the last finished step into `folder` (new),
  /// manifest.json with sizes and SHA-256 last. No update may be in flight. Throws Error(numeric) and writes
  /// nothing when adapter or optimiser state hold a value that is not finite.
  void save(const std::string& folder, const AdapterNotes& notes) const;
  /// Continues from a folder written by save(), bit-exactly; throws Error(bad_format) when a file is not as
  /// the manifest says.
  void restore(const std::string& folder);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lorikeet
