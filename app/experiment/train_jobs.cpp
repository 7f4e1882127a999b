#include "app/experiment/train_jobs.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>

#include "app/experiment/lane_cards.h"
#include "app/experiment/run_outcome.h"
#include "common/error.h"
#include "common/file.h"

namespace winnow::app {
namespace {

namespace fs = std::filesystem;

// The last sentence that winnow printed about a failure.
std::string last_sentence(const fs::path& log) {
  const std::string text = read_text(log);
  const std::size_t at = text.rfind("winnow: ");
  if (at == std::string::npos) {
    const bool full = free_bytes(log.parent_path()) < 4096;
    return full ? "no space is left for " + log.string()
                : "it printed nothing; see " + log.string();
  }
  const std::string line = text.substr(at + 8);
  return line.substr(0, line.find('\n'));
}

constexpr const char* kVisible = "CUDA_VISIBLE_DEVICES";

// The NVIDIA cards that runs may use.
std::vector<std::string> cards_here() {
  std::error_code none;
  const fs::directory_iterator all("/proc/driver/nvidia/gpus", none);
  const char* const set = std::getenv(kVisible);
  return visible_cards(set == nullptr ? std::nullopt : std::optional<std::string>(set),
                       static_cast<std::size_t>(std::distance(begin(all), end(all))));
}

// Runs one job. A diverged run is an outcome. Any other failure would hit all runs, so it ends the
// experiment. `words`: of its command.
std::optional<Outcome> do_one(const CommandJobs& how, const Claim& claim,
                              std::vector<std::string> words,
                              const std::optional<std::string>& card, const Session& session) {
  make_directories(claim.folder());
  const std::string command = words.front();
  words.insert(words.begin(), fs::read_symlink("/proc/self/exe").string());
  Child child{.words = std::move(words),
              .out = claim.folder() / "result.json",
              .error = claim.folder() / "log",
              .keeps = claim.descriptor()};
  if (card) child.variables.push_back(std::string(kVisible) + "=" + *card);
  for (int attempt = 0; attempt < 3; ++attempt) {
    const ChildEnd end = run_child(child, session.stop);
    if (is_asked_to_stop(session)) return std::nullopt;
    if (end.signal != 0) continue;  // resumes from its last checkpoint
    if (end.exit_code == 75) return std::nullopt;
    if (end.exit_code == 0) {
      const JsonReader printed(read_text(child.out), {.name = child.out.string()});
      return how.outcome(claim, printed);
    }
    if (has_diverged(end, child.error)) return Outcome{true, last_sentence(child.error)};
    refuse_failure(how.verb, command, end, child.error);
  }
  throw Error("the run " + claim.folder().string() +
              " was killed three times; if memory is short, use fewer --lanes");
}

}  // namespace

bool has_diverged(const ChildEnd& end, const fs::path& log) {
  return end.signal == 0 && end.exit_code == 1 &&
         last_sentence(log).find("not finite") != std::string::npos;
}

void refuse_failure(const std::string& verb, const std::string& command, const ChildEnd& end,
                    const fs::path& log) {
  if (end.signal != 0) {
    throw Error("winnow " + command + " was killed by signal " + std::to_string(end.signal) +
                "; if memory is short, use a smaller --batch-size");
  }
  const std::string why = last_sentence(log);
  if (end.exit_code == 2) {
    throw UsageError("winnow " + verb + " runs winnow " + command +
                     ", which refused its options: " + why);
  }
  throw Error("a run of winnow " + verb + " failed: " + why);
}

void do_jobs(const CommandJobs& how, const std::vector<std::string>& jobs, JobQueue& queue,
             const Session& session) {
  const int cores = thread_plan(session, how.threads).cores;
  const int threads = std::max(1, cores / how.lanes);
  const ProgressSink bar = progress_bar(session, how.verb, how.unit);
  std::mutex mutex;
  Progress progress{.done = 0, .total = jobs.size(), .note = {}};
  for (const std::string& job : jobs) progress.done += queue.outcome(job) ? 1 : 0;
  bar(progress);
  const std::vector<std::string> cards = cards_here();
  work_off(queue, jobs, how.lanes, session.stop, [&](const Claim& claim, std::size_t lane) {
    std::vector<std::string> words = how.words(claim, threads);
    const std::optional<std::string> card = card_of_lane(cards, lane, words);
    std::optional<Outcome> outcome = do_one(how, claim, std::move(words), card, session);
    const std::lock_guard guard(mutex);
    ++progress.done;
    if (outcome) bar(progress);
    return outcome;
  });
}

void train_jobs(const TrainJobs& how, const std::vector<std::string>& jobs, JobQueue& queue,
                const Session& session) {
  const auto words = [&](const Claim& claim, int threads) {
    std::vector<std::string> all{"train",
                                 how.cache.string(),
                                 "--out",
                                 (claim.folder() / "run").string(),
                                 "--resume",
                                 "auto",
                                 "--checkpoint-hist",
                                 "1",
                                 "--threads",
                                 std::to_string(threads),
                                 "--json"};
    for (std::string& word : how.words(claim.job())) all.push_back(std::move(word));
    return all;
  };
  do_jobs({.verb = how.verb,
           .unit = "runs",
           .lanes = how.lanes,
           .threads = how.threads,
           .words = words,
           .outcome = outcome_of_run},
          jobs, queue, session);
}

}  // namespace winnow::app
