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

// A run of inputs that one worker predicts together, or a band of one large picture.
struct PredictTask {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  WindowRange band{};  // its windows; empty: whole inputs

  bool is_band() const noexcept { return band.end > 0; }
};

// How inputs that are predicted in windows are cut further.
struct WindowCut {
  std::uint64_t most_bytes = 0;  // limit of a task with several inputs, by the sizes in the listing
  // bands of an input; none or one: it is not cut
  std::function<std::vector<WindowRange>(std::uint64_t at)> bands;
};

// Cuts inputs into tasks of whole micro-batches: the same for equal inputs. Without `windows` it
// depends on the listing alone.
std::vector<PredictTask> plan_tasks(const Inputs& inputs, std::size_t micro_batch,
                                    const WindowCut* windows);

// The inputs whose tasks are bands. Pure.
std::vector<std::uint64_t> joins_of(const std::vector<PredictTask>& tasks);

// The facts that decide the files of a folder of predictions, by name.
using PredictFacts = std::map<std::string, std::string>;

// A folder of predictions:
//
//   predict.json    the facts; written first
//   machines/KEY    kinds of machines that work on it
//   tasks/          a queue of tasks (common/queue); not if a process works alone
//   parts/KEY       results of a task, or of a picture whose bands were joined
//   report.json     written last, when all other files are complete
class PredictFolder {
 public:
  // Creates the folder, or opens what an earlier call with equal facts created.
  // machine   facts of this machine's kind that decide bits. Another kind than those that work
  //           there is refused unless `mixed`.
  // Throws    UsageError: a folder of something else, or with other facts; the message names the
  //           difference.
  PredictFolder(std::filesystem::path path, const PredictFacts& facts,
                const std::vector<PredictTask>& tasks, const std::string& machine, bool mixed);

  const std::filesystem::path& path() const noexcept { return path_; }
  const std::string& digest() const noexcept { return digest_; }  // digest of the facts
  std::filesystem::path queue() const { return path_ / "tasks"; }
  std::filesystem::path report() const { return path_ / "report.json"; }
  // The part of a job, which is one of those below.
  std::filesystem::path part(const std::string& job) const;
  std::vector<std::string> machines() const;  // kinds that work or worked on it, sorted

 private:
  std::filesystem::path path_;
  std::string digest_;
};

// Reads predict.json of an existing folder. Throws UsageError if there is none.
struct BegunPredictions {
  std::string digest;
  std::size_t tasks = 0;
  std::vector<std::uint64_t> joins;  // inputs that are cut into bands
};
BegunPredictions read_begun(const std::filesystem::path& folder);
// Names of jobs in the queue, each of which names its part: a task; joining the bands of an input;
// assembling all parts, which has no part.
std::string task_job(const std::string& digest, std::size_t task);
std::string join_job(const std::string& digest, std::uint64_t input);
std::string assembly_job(const std::string& digest);

}  // namespace winnow::app
