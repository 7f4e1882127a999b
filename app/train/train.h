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
  bool resume = false;      // go on from the newest complete checkpoint
  std::uint32_t folds = 0;  // 0: one run
  std::string trace_steps;  // FIRST-LAST or +COUNT; empty: none
  MetricsOutletOptions metrics;
  bool json = false;
};

// Where one run is shown while it is trained.
struct TrainView {
  ProgressSink progress;
  std::function<void(const std::string& sentence)> say;
  std::shared_ptr<void> shown{};  // it is open as long as this lives
};

// Where all that a session says is.
TrainView plain_view(const Session& session);

// Who watches over a job.
struct TrainWatched {
  Session& session;                // to go on with: its communicator marks what this rank waits for
  health::Board* board = nullptr;  // where the training marks how far it is
  std::shared_ptr<void> watching{};  // somebody does as long as this lives
};

// Who looks on at a training; both may be empty.
struct TrainOnlookers {
  // Collective. What it returns ends before the session that it is given.
  std::function<TrainWatched(Session& session)> watch;
  // On every rank, before each run; else plain_view(). `batch`: images of a step.
  std::function<TrainView(const std::filesystem::path& run, std::int64_t batch,
                          const Session& session)>
      view;
};

// Trains a net on a cache, alone or on all ranks, and evaluates it; with folds a run for each.
//
// Out     The run's folder; sentences; with `json` an object of the schema train, or train_folds.
// Ranks   Collective.
// Throws  UsageError: options that make no sense; StoppedError: a checkpoint is kept; as
//         train::train() else.
void run_train(const TrainRequest& request, Session& session, const TrainOnlookers& onlookers = {});

}  // namespace winnow::app
