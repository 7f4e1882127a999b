#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "common/comm/communicator.h"
#include "common/file.h"
#include "train/run/model.h"

namespace winnow::train {

// The folder a run writes into. Collective: rank 0 touches the disk, the others learn what it
// found.
class RunDirectory {
 public:
  RunDirectory(std::filesystem::path path, comm::Communicator& comm)
      : path_(std::move(path)), comm_(comm) {}

  // Begins a run with `config`, or goes on with one: the newest complete checkpoint enters `model`.
  // Returns the steps done, 0 at the beginning; afterwards all ranks have rank 0's model. Throws
  // UsageError for a folder that holds something else, a run without `resume`, one of another
  // config, or one that is still going on. `note` takes sentences for people.
  std::int64_t begin(const std::string& config, bool resume, Model& model,
                     const std::function<void(std::string)>& note);

  // A checkpoint after `step` steps; `state` is JSON of the trainer's own.
  void save(std::int64_t step, const Model& model, const std::string& state, int keep);

  std::filesystem::path metrics() const { return path_ / "metrics.jsonl"; }
  std::filesystem::path plan() const { return path_ / "plan.json"; }

 private:
  std::filesystem::path path_;
  comm::Communicator& comm_;
  Fd lock_;  // rank 0: held as long as the run goes on
};

}  // namespace winnow::train
