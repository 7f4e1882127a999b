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
#include "train/run/record/net_tensors.h"
#include "train/run/record/run_state.h"

namespace winnow::train {

// The folder into which a run writes.
// Order of calls  find(), begin(), use_plan(), restore_newest_checkpoint(). Then rank 0 calls
//                 checkpoint_of() for each checkpoint.
// Collective      The first four: rank 0 accesses the disk and shares the results.
class RunDirectory {
 public:
  RunDirectory(std::filesystem::path path, comm::Communicator& comm,
               std::function<void(std::string)> note)
      : path_(std::move(path)), comm_(comm), note_(std::move(note)) {}

  // Checks whether a run with configuration `config` can start in the folder, or with `resume`
  // continue there. Locks a resumed run. Writes nothing.
  //
  // Out     The plan of a resumed run; nullopt for a new run. With `replan`, a damaged plan counts
  //         as none.
  // Throws  UsageError: the folder holds something else, a run without `resume`, a run with another
  //         configuration, or a run that another process is using.
  std::optional<RunPlan> find(const std::string& config, bool resume, bool replan);

  // Whether find() found a run to resume. The same on every rank.
  bool goes_on() const noexcept { return goes_on_; }

  // Creates the folder and its config.json, and locks it. Does nothing if find() found a run to
  // resume.
  // Throws  UsageError if another process was faster.
  void begin(const std::string& config);

  // Makes `plan` the plan of the run, in place of the one from find().
  // Throws  UsageError if the two differ in a way that compare_plans() forbids.
  void use_plan(RunPlan plan, bool replan);

  // Reads the newest intact checkpoint, and reports damaged ones that it skips. Hands its tensors
  // out to the ranks that hold them, into `held`.
  //
  // Out     The state saved with the checkpoint; nullopt at the start of a run, which leaves `held`
  //         as it is.
  // keep    As for train::save_checkpoint().
  // Throws  UsageError: the checkpoint was made under another plan, without `replan`. FormatError:
  //         a state that no run with `batches` can have.
  std::optional<RunState> restore_newest_checkpoint(Model& held, const NetTensors& tensors,
                                                    const BatchLayout& batches, bool replan,
                                                    int keep);

  // Returns what a checkpoint after state.step steps stores besides tensors: `state`, and the
  // digest of the current plan. Not collective.
  Checkpoint checkpoint_of(RunState state) const;

  // Identifier of the run: 16 random hex digits, drawn once. Valid on rank 0, after begin().
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
  // A checkpoint that a run can go on from, on rank 0.
  struct Found {
    std::filesystem::path path{};  // empty: there is none
    Checkpoint checkpoint{};
    RunState state{};
  };

  std::filesystem::path plan_path() const { return path_ / "plan.json"; }
  Found find_newest_checkpoint(const BatchLayout& batches, bool replan);
  void settle_on(Found& found, int keep);

  std::filesystem::path path_;
  comm::Communicator& comm_;
  std::function<void(std::string)> note_;  // sink for user-facing messages
  Fd lock_;             // lock on the folder, held by rank 0 as long as the run lasts
  std::string run_id_;  // rank 0
  bool goes_on_ = false;
  std::string stored_plan_;  // text of the stored plan.json; on rank 0
  RunPlan plan_;
  std::string plan_digest_;
};

}  // namespace winnow::train
