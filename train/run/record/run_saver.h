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
#include "train/run/record/net_tensors.h"
#include "train/run/record/run_directory.h"
#include "train/run/record/run_state.h"

namespace winnow::train {

// Saves checkpoints in the background: save() copies the state, and a thread of rank 0 writes it
// while training continues. Lines logged before a checkpoint become durable before it, so a resumed
// run repeats no line.
//
// board       Knows at construction which checkpoint is already durable; 0: none.
// Memory      While a checkpoint is written, rank 0 holds MemoryNeeds::checkpoint more bytes.
// Errors      A failed write is thrown on all ranks by the next save() or finish(). If failed() is
//             true, call finish().
// Lifetime    The constructor's arguments must outlive this object.
// Destructor  Waits for the write in progress.
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

  // While an object of this class lives, training is paused for a checkpoint. The pause is not
  // counted as training time.
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
  // Starts a pause of training in which the content of a checkpoint is gathered.
  Hold begin();

  // Copies the tensors of the net, of which this rank holds those in `held`, after state.step
  // steps, as soon as the previous checkpoint is durable. Collective.
  //
  // census   Text of RUN/census.json, on rank 0. It is written before the checkpoint.
  // Durable  On return only for the first checkpoint of a run, so that all ranks know one to resume
  //          from, and for one that is_best().
  void save(const RunState& state, const Model& held, const NetTensors& tensors,
            std::string census);

  // Waits until all saved checkpoints are durable. Collective.
  void finish();

  // Whether writing a checkpoint failed. Meaningful on rank 0. Never blocks.
  bool failed() const noexcept { return writer_.failed(); }

  // Adds the seconds spent on checkpoints to `values`: "checkpoint.held_time", and on rank 0
  // "checkpoint.cpu_time".
  void add_costs(std::map<std::string, double>& values) const;

 private:
  CheckpointJob job_of(const RunState& state, Checkpoint checkpoint, std::string census);

  const RunDirectory& directory_;
  RunLog& log_;
  comm::Communicator& comm_;
  health::Board& board_;
  int keep_;
  double held_seconds_ = 0;
  std::int64_t saved_;       // step of the newest checkpoint; 0: none yet
  CheckpointWriter writer_;  // used by rank 0 alone; the last member, so that it is destroyed first
};

}  // namespace winnow::train
