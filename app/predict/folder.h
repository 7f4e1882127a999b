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

// One task of `winnow predict`: consecutive inputs, or a band (rows of windows) of one large
// picture.
struct PredictTask {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  WindowRange band{};  // windows of the band; empty: whole inputs

  bool is_band() const noexcept { return band.end > 0; }
};

// How inputs that are predicted in windows are divided into tasks.
struct WindowCut {
  // Most bytes of a task with several inputs, by the sizes in the listing.
  std::uint64_t most_bytes = 0;
  // Returns the bands (rows of windows) into which input `at` is split; none or one: it is not
  // split.
  std::function<std::vector<WindowRange>(std::uint64_t at)> bands;
};

// Divides inputs into tasks of whole micro-batches. Equal inputs always give equal tasks. Without
// `windows` only the number of inputs matters.
std::vector<PredictTask> plan_tasks(const Inputs& inputs, std::size_t micro_batch,
                                    const WindowCut* windows);

// The inputs that are split into bands, whose results must be joined. Pure.
std::vector<std::uint64_t> joins_of(const std::vector<PredictTask>& tasks);

// Facts that determine the content of a folder of predictions, by name, such as net and options.
using PredictFacts = std::map<std::string, std::string>;

// A folder of predictions, in which several processes may work.
//
//   predict.json    the facts; written first
//   machines/KEY    the kinds of machines that work on it
//   tasks/          a queue of tasks (common/queue); absent if a process works alone
//   parts/KEY       the results of a task, or of a picture whose bands were joined
//   report.json     written last, when all other files are complete
class PredictFolder {
 public:
  // Creates the folder, or opens one that was created with equal facts.
  // machine   properties of this machine that affect the bits of results. Unless `mixed`, a machine
  //           of another kind than those that already work in the folder is refused.
  // Throws    UsageError: the folder has other content, or other facts; the message names them.
  PredictFolder(std::filesystem::path path, const PredictFacts& facts,
                const std::vector<PredictTask>& tasks, const std::string& machine, bool mixed);

  const std::filesystem::path& path() const noexcept { return path_; }
  const std::string& digest() const noexcept { return digest_; }  // digest of the facts
  std::filesystem::path queue() const { return path_ / "tasks"; }
  std::filesystem::path report() const { return path_ / "report.json"; }
  // The path of a job's result. The job's name comes from task_job() or join_job().
  std::filesystem::path part(const std::string& job) const;
  // Kinds of machines that have worked in the folder, sorted.
  std::vector<std::string> machines() const;

 private:
  std::filesystem::path path_;
  std::string digest_;
};

// The content of predict.json in an existing folder. Reading it throws UsageError if there is none.
struct BegunPredictions {
  std::string digest;
  std::size_t tasks = 0;
  std::vector<std::uint64_t> joins;  // inputs that are split into bands
};
BegunPredictions read_begun(const std::filesystem::path& folder);
// Names of jobs in the queue of a folder of predictions: a task; joining the bands of an input;
// assembling all results into the final tables. The first two are also names of result files.
std::string task_job(const std::string& digest, std::size_t task);
std::string join_job(const std::string& digest, std::uint64_t input);
std::string assembly_job(const std::string& digest);

}  // namespace winnow::app
