#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "common/comm/communicator.h"
#include "common/health/board.h"
#include "train/checkpoint/checkpoint_writer.h"
#include "train/model/model.h"
#include "train/run/log/run_log.h"
#include "train/run/record/run_directory.h"
#include "train/run/record/run_state.h"

namespace winnow::train {

// Saves a run beside its training: all that a checkpoint holds is copied, and a thread of rank 0
// writes it while steps go on. What was logged before is durable before it: a run that goes on from
// it writes no line twice.
//
// board    says from its beginning which checkpoint is durable already, 0: none
// Memory   of rank 0, while one is written: MemoryNeeds::checkpoint
// Errors   What keeps a checkpoint from being written is thrown on all ranks by the next save() or
//          finish(). Who sees failed() calls finish().
// The others outlive it. It ends when what is under way is written.
class RunSaver {
 public:
  RunSaver(const RunDirectory& directory, RunLog& log, comm::Communicator& comm,
           health::Board& board, int keep)
      : directory_(directory),
        log_(log),
        comm_(comm),
        board_(board),
        keep_(keep),
        saved_(board.saved()),
        writer_(directory.checkpoints()) {}

  // Steps are held up for a checkpoint as long as this lives.
  class Hold {
   public:
    explicit Hold(RunSaver& saver) : saver_(saver) {}
    ~Hold();
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    RunSaver& saver_;
    const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  };
  // What a checkpoint holds is gathered from now on.
  Hold begin();

  // Copies `model` after state.step steps, once the checkpoint before is durable. Collective.
  //
  // In   `census`: of RUN/census.json, written before the checkpoint; rank 0's
  // The first one of a run is durable when this returns, so that all ranks know of one to go on
  // from; and one that is_best().
  void save(const RunState& state, const Model& model, std::string census);

  // Waits until all that was saved is durable. Collective.
  void finish();

  // Rank 0: a checkpoint could not be written. Never waits.
  bool failed() const noexcept { return writer_.failed(); }

  // What checkpoints have cost: "checkpoint.held_time" and, of rank 0, "checkpoint.cpu_time".
  void add_costs(std::map<std::string, double>& values) const;

 private:
  CheckpointJob job_of(const RunState& state, const Model& model, std::string census);

  const RunDirectory& directory_;
  RunLog& log_;
  comm::Communicator& comm_;
  health::Board& board_;
  int keep_;
  double held_seconds_ = 0;
  std::int64_t saved_;       // step of the newest checkpoint; 0: none yet
  CheckpointWriter writer_;  // used by rank 0 alone; last, so that it ends first
};

}  // namespace winnow::train
