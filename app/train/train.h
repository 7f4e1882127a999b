#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "app/metrics/metrics_outlet.h"
#include "app/session.h"
#include "app/train/train_choice.h"
#include "common/health/board.h"
#include "common/progress.h"
#include "train/run/options.h"

namespace winnow::app {

struct TrainRequest {
  TrainChoice choice;
  bool resume = false;      // continue from the newest complete checkpoint
  std::uint32_t folds = 0;  // number of cross-validation folds; 0: one run without folds
  std::string trace_steps;  // steps to trace, FIRST-LAST or +COUNT; empty: none
  MetricsOutletOptions metrics;
  bool json = false;
};

// Where the progress of a run is shown while it trains.
struct TrainView {
  ProgressSink progress;
  std::function<void(const std::string& sentence)> say;
  std::shared_ptr<void> shown{};  // the view stays open as long as this object lives
};

// A view that uses the session's own output: sentences and a progress bar.
TrainView plain_view(const Session& session);

// A training under health monitoring, which detects ranks that hang.
struct TrainWatched {
  // Session to use from now on: its communicator records what this rank waits for.
  Session& session;
  health::Board* board = nullptr;    // where the training records its progress
  std::shared_ptr<void> watching{};  // monitoring lasts as long as this object lives
};

// Functions that observe a training. Both may be empty.
struct TrainOnlookers {
  // Starts health monitoring. Collective. The result must be destroyed before the session passed to
  // it.
  std::function<TrainWatched(Session& session)> watch;
  // Opens a view of a run, on every rank, before the run begins. Empty: plain_view() is used.
  // `batch`: images per step.
  std::function<TrainView(const std::filesystem::path& run, std::int64_t batch,
                          const Session& session)>
      view;
};

// Trains a net on a cache, alone or on all ranks, and evaluates it. With folds: one run per fold.
//
// Out     The run's folder; sentences for the user. With `json`, an object of schema train or
//         train_folds.
// Ranks   Collective.
// Throws  UsageError: bad options. StoppedError: after a checkpoint was stored. Else as
//         train::train().
void run_train(const TrainRequest& request, Session& session, const TrainOnlookers& onlookers = {});

}  // namespace winnow::app
