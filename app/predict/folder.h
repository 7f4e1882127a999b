#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "app/predict/bands.h"
#include "app/predict/inputs.h"

namespace winnow::app {

// A run of inputs that one worker predicts at once, or a band of one large picture.
struct PredictTask {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  WindowRange band{};  // its windows; empty: inputs as they are

  bool is_band() const noexcept { return band.end > 0; }
};

// How inputs that windows go over are cut further.
struct WindowCut {
  std::uint64_t most_bytes = 0;  // of a task of several inputs, as listed
  std::function<std::vector<WindowRange>(std::uint64_t at)> bands;  // of an input; up to one: none
};

// Cuts inputs into tasks of whole micro-batches: the same for equal inputs. Without `windows` by
// the listing alone.
std::vector<PredictTask> plan_tasks(const Inputs& inputs, std::size_t micro_batch,
                                    const WindowCut* windows);

// The inputs that tasks are bands of. Pure.
std::vector<std::uint64_t> joins_of(const std::vector<PredictTask>& tasks);

// What a folder of predictions is of: facts that decide its files, by name.
using PredictFacts = std::map<std::string, std::string>;

// A folder of predictions:
//
//   predict.json    what they are of; written first
//   machines/KEY    kinds of machines that work on them
//   tasks/          a queue of tasks (common/queue); not where a process works alone
//   parts/KEY       the results of a task, and those of a picture whose bands were put together
//   report.json     written last, when all other files are in their places
class PredictFolder {
 public:
  // Makes it, or opens what an earlier call with equal facts made.
  // machine   the facts of this machine's kind, which decide bits; another kind than those that
  //           work there is refused, but for `mixed`
  // Throws    UsageError: a folder of something else, or of other facts, naming what differs.
  PredictFolder(std::filesystem::path path, const PredictFacts& facts,
                const std::vector<PredictTask>& tasks, const std::string& machine, bool mixed);

  const std::filesystem::path& path() const noexcept { return path_; }
  const std::string& digest() const noexcept { return digest_; }  // of the facts
  std::filesystem::path queue() const { return path_ / "tasks"; }
  std::filesystem::path report() const { return path_ / "report.json"; }
  // The part of a job, which is one of those below.
  std::filesystem::path part(const std::string& job) const;
  std::vector<std::string> machines() const;  // that work or worked on it, sorted

 private:
  std::filesystem::path path_;
  std::string digest_;
};

// What predict.json says of a folder that is there. UsageError: none is.
struct BegunPredictions {
  std::string digest;
  std::size_t tasks = 0;
  std::vector<std::uint64_t> joins;  // inputs that are cut into bands
};
BegunPredictions read_begun(const std::filesystem::path& folder);
// Texts of jobs in the queue, each of which names its part: a task; the bands of an input, to be
// put together; all parts, which have none.
std::string task_job(const std::string& digest, std::size_t task);
std::string join_job(const std::string& digest, std::uint64_t input);
std::string assembly_job(const std::string& digest);

}  // namespace winnow::app
