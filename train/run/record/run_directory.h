#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "common/comm/communicator.h"
#include "common/file.h"
#include "train/checkpoint/checkpoint.h"
#include "train/model/model.h"
#include "train/plan/run_plan.h"
#include "train/run/record/run_state.h"

namespace winnow::train {

// The folder a run writes into. Order of calls: find(), begin(), use_plan(),
// restore_newest_checkpoint(); they are collective: rank 0 touches the disk, the others learn what
// it found. Then rank 0 saves checkpoint_of() again and again.
class RunDirectory {
 public:
  RunDirectory(std::filesystem::path path, comm::Communicator& comm,
               std::function<void(std::string)> note)
      : path_(std::move(path)), comm_(comm), note_(std::move(note)) {}

  // Looks whether a run with `config` can begin in the folder, or with `resume` go on, which is
  // locked then. Writes nothing.
  //
  // Out      The plan of a run that goes on. With `replan` a damaged one counts as none.
  // Throws   UsageError: the folder holds something else, a run without `resume`, one of another
  //          config, or one that another process works on.
  std::optional<RunPlan> find(const std::string& config, bool resume, bool replan);

  // Whether find() found a run that goes on. The same on every rank.
  bool goes_on() const noexcept { return goes_on_; }

  // Makes the folder and its config.json, and locks it, where find() found no run that goes on.
  // Throws UsageError where another process was faster.
  void begin(const std::string& config);

  // Makes `plan` the run's. It supersedes the plan that find() found where they differ. Throws
  // UsageError where they must not differ (compare_plans).
  void use_plan(RunPlan plan, bool replan);

  // Reads the newest sound checkpoint into `model`, on all ranks; says which damaged ones it passed
  // over. Without a checkpoint the other ranks get rank 0's model.
  //
  // Out      The state saved with it; none at the beginning of a run.
  // keep     As for train::save_checkpoint().
  // Throws   UsageError: without `replan`, a checkpoint made under a plan that is not this run's.
  //          FormatError: a state that no run with `batches` can have.
  std::optional<RunState> restore_newest_checkpoint(Model& model, const BatchLayout& batches,
                                                    bool replan, int keep);

  // A copy of `model` after state.step steps, under the plan in use. Not collective.
  Checkpoint checkpoint_of(RunState state, const Model& model) const;

  // Names the run: 16 hex digits, drawn once. Rank 0 after begin().
  const std::string& run_id() const noexcept { return run_id_; }

  std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }
  std::filesystem::path checkpoint(std::int64_t step) const {
    return checkpoints() / ("step-" + std::to_string(step));
  }
  std::filesystem::path metrics() const { return path_ / "metrics.jsonl"; }
  std::filesystem::path ranks() const { return path_ / "ranks.json"; }
  std::filesystem::path summary() const { return path_ / "summary.csv"; }
  std::filesystem::path events() const { return path_ / "tensorboard"; }
  std::filesystem::path census() const { return path_ / "census.json"; }

 private:
  std::filesystem::path plan_path() const { return path_ / "plan.json"; }

  std::filesystem::path path_;
  comm::Communicator& comm_;
  std::function<void(std::string)> note_;  // takes sentences for people
  Fd lock_;                                // rank 0: held as long as the run goes on
  std::string run_id_;                     // rank 0
  bool goes_on_ = false;
  std::string stored_plan_;  // text; rank 0
  RunPlan plan_;
  std::string plan_digest_;
};

}  // namespace winnow::train
