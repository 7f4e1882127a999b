#include "pipeline/parallel/worker_limit.h"

#include <tbb/global_control.h>

#include <cstddef>

namespace winnow::pipeline {

struct WorkerLimit::State {
  tbb::global_control control;
};

WorkerLimit::WorkerLimit(int threads) {
  if (threads <= 0) return;
  state_.reset(new State{tbb::global_control(tbb::global_control::max_allowed_parallelism,
                                             static_cast<std::size_t>(threads))});
}

WorkerLimit::~WorkerLimit() = default;

}  // namespace winnow::pipeline
