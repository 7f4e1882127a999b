#include "tools/train_jobs.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "common/error.h"
#include "common/file.h"
#include "tools/experiment/lanes.h"
#include "tools/progress_bar.h"

namespace winnow::tools {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> child_words(const TrainJobs& how, const Claim& claim, int threads) {
  std::vector<std::string> words{fs::read_symlink("/proc/self/exe").string(),
                                 "train",
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
  for (std::string& word : how.words(claim.job())) words.push_back(std::move(word));
  return words;
}

// The last sentence that winnow said on a failure.
std::string last_sentence(const fs::path& log) {
  const std::string text = read_text(log);
  const std::size_t at = text.rfind("winnow: ");
  if (at == std::string::npos) return "it said nothing; see " + log.string();
  const std::string line = text.substr(at + 8);
  return line.substr(0, line.find('\n'));
}

// A run that diverged is an outcome; what else fails would fail all others as well, and ends it.
std::optional<Outcome> train_one(const TrainJobs& how, const Claim& claim, int threads,
                                 const Session& session) {
  make_directories(claim.folder());
  const Child child{.words = child_words(how, claim, threads),
                    .out = claim.folder() / "result.json",
                    .error = claim.folder() / "log",
                    .keeps = claim.descriptor()};
  for (int attempt = 0; attempt < 3; ++attempt) {
    const ChildEnd end = run_child(child, session.stop);
    if (session.stop && session.stop()) return std::nullopt;
    if (end.signal != 0) continue;  // it goes on from its last checkpoint
    if (end.exit_code == 75) return std::nullopt;
    if (end.exit_code == 0) {
      const JsonReader printed(read_text(child.out), {.name = child.out.string()});
      return Outcome{false, how.outcome(claim, printed)};
    }
    const std::string why = last_sentence(child.error);
    if (end.exit_code == 1 && why.find("not finite") != std::string::npos) {
      return Outcome{true, why};
    }
    if (end.exit_code == 2) {
      throw UsageError("winnow train, as winnow " + how.verb + " calls it: " + why);
    }
    throw Error("a run of winnow " + how.verb + " failed: " + why);
  }
  throw Error("the run " + claim.folder().string() +
              " was killed three times; where memory is short take fewer --lanes");
}

}  // namespace

void train_jobs(const TrainJobs& how, const std::vector<std::string>& jobs, JobQueue& queue,
                const Session& session) {
  const int cores = thread_plan(session, how.threads).cores;
  const int threads = std::max(1, cores / how.lanes);
  const ProgressSink bar = make_progress_bar(how.verb, "runs", true);
  std::mutex mutex;
  Progress progress{.done = 0, .total = jobs.size(), .note = {}};
  for (const std::string& job : jobs) progress.done += queue.outcome(job) ? 1 : 0;
  bar(progress);
  work_off(queue, jobs, how.lanes, session.stop, [&](const Claim& claim) {
    std::optional<Outcome> outcome = train_one(how, claim, threads, session);
    const std::lock_guard guard(mutex);
    ++progress.done;
    if (outcome) bar(progress);
    return outcome;
  });
}

}  // namespace winnow::tools
