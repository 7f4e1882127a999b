#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "app/predict/inputs.h"

namespace winnow::app {

// A run of inputs that one worker predicts at once.
struct PredictTask {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

// Cuts inputs into tasks of whole micro-batches, by the listing alone. Pure.
// most_bytes   of a task of several inputs, as listed; 0: any
std::vector<PredictTask> plan_tasks(const Inputs& inputs, std::size_t micro_batch,
                                    std::uint64_t most_bytes);

// What a folder of predictions is of: facts that decide its files, by name.
using PredictFacts = std::map<std::string, std::string>;

// A folder of predictions:
//
//   predict.json    what they are of; written first
//   machines/KEY    kinds of machines that work on them
//   tasks/          a queue of tasks (common/queue); not where a process works alone
//   parts/KEY       the results of a task
//   report.json     written last, when all other files are in their places
class PredictFolder {
 public:
  // Makes it, or opens what an earlier call with equal facts made.
  // machine   the facts of this machine's kind, which decide bits; another kind than those that
  //           work there is refused, but for `mixed`
  // Throws    UsageError: a folder of something else, or of other facts, naming what differs.
  PredictFolder(std::filesystem::path path, const PredictFacts& facts, std::size_t tasks,
                const std::string& machine, bool mixed);

  const std::filesystem::path& path() const noexcept { return path_; }
  const std::string& digest() const noexcept { return digest_; }  // of the facts
  std::filesystem::path queue() const { return path_ / "tasks"; }
  std::filesystem::path report() const { return path_ / "report.json"; }
  // The text of a task in the queue, which names its part.
  std::string job(std::size_t task) const;
  std::filesystem::path part(std::size_t task) const;
  std::vector<std::string> machines() const;  // that work or worked on it, sorted

 private:
  std::filesystem::path path_;
  std::string digest_;
};

// What predict.json says of a folder that is there. UsageError: none is.
struct BegunPredictions {
  std::string digest;
  std::size_t tasks = 0;
};
BegunPredictions read_begun(const std::filesystem::path& folder);
std::string task_job(const std::string& digest, std::size_t task);
std::string assembly_job(const std::string& digest);

}  // namespace winnow::app
