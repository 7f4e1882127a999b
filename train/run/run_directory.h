#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "common/comm/communicator.h"
#include "common/file.h"
#include "train/model/model.h"
#include "train/plan/run_plan.h"
#include "train/run/run_state.h"

namespace winnow::train {

// The folder a run writes into. Collective: rank 0 touches the disk, the others learn what it
// found. open(), then adopt() and go_on(), then save() again and again.
class RunDirectory {
 public:
  RunDirectory(std::filesystem::path path, comm::Communicator& comm,
               std::function<void(std::string)> note)
      : path_(std::move(path)), comm_(comm), note_(std::move(note)) {}

  // Takes the folder for a run with `config`, new or, with `resume`, one that is there; returns the
  // plan of that. A damaged plan counts as none with `replan`. Throws UsageError for a folder that
  // holds something else, a run without `resume`, one of another config, or one that is still going
  // on.
  std::optional<RunPlan> open(const std::string& config, bool resume, bool replan);

  // Makes `plan` the run's, superseding the one open() found where they differ; throws UsageError
  // where they must not.
  void adopt(RunPlan plan, bool reproducible, bool replan);

  // The newest complete checkpoint enters `model`; afterwards all ranks have rank 0's. The state it
  // was saved with, or none at the beginning. Throws UsageError for one made under a plan that is
  // not among this run's, without `replan`. `keep` as for save().
  std::optional<RunState> go_on(Model& model, bool replan, int keep);

  // A checkpoint of `model` after state.step steps, under the adopted plan.
  void save(RunState state, const Model& model, int keep);

  std::filesystem::path metrics() const { return path_ / "metrics.jsonl"; }
  std::filesystem::path census() const { return path_ / "census.json"; }

 private:
  std::filesystem::path plan_path() const { return path_ / "plan.json"; }
  std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }

  std::filesystem::path path_;
  comm::Communicator& comm_;
  std::function<void(std::string)> note_;  // takes sentences for people
  Fd lock_;                                // rank 0: held as long as the run goes on
  std::string stored_plan_;                // text; rank 0
  RunPlan plan_;
  std::string plan_digest_;
};

}  // namespace winnow::train
