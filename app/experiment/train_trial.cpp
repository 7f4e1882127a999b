#include "app/experiment/train_trial.h"

#include <algorithm>
#include <chrono>

#include "app/experiment/lanes.h"
#include "app/experiment/run_outcome.h"
#include "app/temporary_folder.h"
#include "common/error.h"
#include "common/file.h"
#include "train/run/log/metrics.h"

namespace winnow::app {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// Returns true once enough steps were seen.
class Enough {
 public:
  explicit Enough(const fs::path& metrics) : tail_(metrics) {}

  bool operator()() {
    // The file is read only a few times a second.
    if (Clock::now() - read_ < std::chrono::milliseconds(100)) return false;
    read_ = Clock::now();
    for (train::MetricsRow& row : tail_.read().rows) rows_.push_back(std::move(row));
    if (rows_.size() < 2) return false;
    const std::int64_t steps = rows_.back().step - rows_.front().step;
    return steps >= 20 || (steps >= 3 && rows_.back().wall - rows_.front().wall > 10);
  }

 private:
  train::MetricsTail tail_;
  std::vector<train::MetricsRow> rows_;
  Clock::time_point read_{};
};

// Zero if no step was measured.
RunSpeed speed_by(const fs::path& metrics, std::uint64_t epoch_images) {
  std::vector<train::MetricsRow> rows = train::read_metrics(metrics);
  // Evaluation rows contain time that belongs to no step.
  const auto first_evaluation = std::ranges::find_if(
      rows, [](const train::MetricsRow& row) { return !row.values.contains("memory.peak"); });
  rows.erase(first_evaluation, rows.end());
  if (rows.empty()) return {};
  const train::MetricsRow& last = rows.back();
  // The first step also prepares the programs.
  const bool alone = rows.size() == 1;
  const double epochs = last.epoch - (alone ? 0 : rows.front().epoch);
  const double seconds = last.wall - (alone ? 0 : rows.front().wall);
  return {.seconds_per_image = seconds / std::max(1.0, epochs * static_cast<double>(epoch_images)),
          .peak_bytes = static_cast<std::uint64_t>(last.values.at("memory.peak"))};
}

}  // namespace

RunSpeed try_training(const TrainJobs& how, const std::string& job, std::uint64_t epoch_images,
                      const fs::path& folder, const Session& session) {
  const TemporaryFolder place(folder);
  make_directories(place.path());
  const fs::path run = place.path() / "run";
  std::vector<std::string> all{fs::read_symlink("/proc/self/exe").string(), "train",
                               how.cache.string()};
  for (std::string& word : how.words(job)) all.push_back(std::move(word));
  const int threads = std::max(1, thread_plan(session, how.threads).cores / how.lanes);
  // Few steps, even if nobody is left to end it.
  const std::vector<std::string> own{
      "--out",          run.string(), "--threads", std::to_string(threads), "--max-steps", "25",
      "--log-interval", "1",          "--json"};
  all.insert(all.end(), own.begin(), own.end());
  Enough enough(run / "metrics.jsonl");
  const Child child{.words = all, .out = place.path() / "out", .error = place.path() / "log"};
  const ChildEnd end = run_child(child, [&] { return is_asked_to_stop(session) || enough(); });
  if (is_asked_to_stop(session)) {
    throw StoppedError("stopped before anything was trained");
  }
  // The steps before a divergence are measured all the same.
  const bool diverged = has_diverged(end, child.error);
  if (!diverged && (end.signal != 0 || (end.exit_code != 0 && end.exit_code != 75))) {
    refuse_failure(how.verb, "train", end, child.error);
  }
  RunSpeed speed = speed_by(run / "metrics.jsonl", epoch_images);
  if (speed.peak_bytes == 0 && !diverged) {
    throw Error("the first steps of a training could not be measured; run the command again");
  }
  speed.disk_bytes = bytes_below(run);
  return speed;
}

}  // namespace winnow::app
