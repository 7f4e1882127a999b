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
  bool resume = false;      // resume from the newest complete checkpoint
  std::uint32_t folds = 0;  // 0: one run
  std::string trace_steps;  // FIRST-LAST or +COUNT; empty: none
  MetricsOutletOptions metrics;
  bool json = false;
};

// Where a run is shown during training.
struct TrainView {
  ProgressSink progress;
  std::function<void(const std::string& sentence)> say;
  std::shared_ptr<void> shown{};  // the view is open as long as this lives
};

// A view that goes where the session's output goes.
TrainView plain_view(const Session& session);

// A job under health monitoring.
struct TrainWatched {
  Session& session;  // continue with this one: its communicator records what this rank waits for
  health::Board* board = nullptr;    // where the training records its progress
  std::shared_ptr<void> watching{};  // monitoring lasts as long as this lives
};

// Observers of a training; both may be empty.
struct TrainOnlookers {
  // Starts monitoring. Collective. The result is destroyed before the session passed to it.
  std::function<TrainWatched(Session& session)> watch;
  // Opens a view on every rank, before each run; else plain_view(). `batch`: images per step.
  std::function<TrainView(const std::filesystem::path& run, std::int64_t batch,
                          const Session& session)>
      view;
};

// Trains a net on a cache, alone or on all ranks, and evaluates it; with folds, one run per fold.
//
// Out     The run's folder; sentences; with `json` an object by the schema train, or train_folds.
// Ranks   Collective.
// Throws  UsageError: bad options; StoppedError: a checkpoint is stored; else as train::train().
void run_train(const TrainRequest& request, Session& session, const TrainOnlookers& onlookers = {});

}  // namespace winnow::app
