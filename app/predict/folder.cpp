#include "app/predict/folder.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "common/checksum.h"
#include "common/error.h"
#include "common/file.h"
#include "common/json.h"
#include "common/json_reader.h"
#include "common/queue/job_queue.h"

namespace winnow::app {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kInputsATask = 256;  // minimum, rounded to micro-batches

std::string digest_of(const PredictFacts& facts) {
  return to_hex(xxh3_128(as_bytes(Json(facts).dump())));
}

// Files of ours may exist before predict.json: another process may be creating the folder.
void check_is_free(const fs::path& folder) {
  if (!fs::exists(folder)) return;
  if (!fs::is_directory(folder)) {
    throw UsageError(folder.string() + " is not a folder; choose another --out");
  }
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("predict.json") || name.starts_with(".predict.json")) continue;
    if (fs::exists(folder / "predict.json")) return;  // another process was creating it
    throw UsageError(folder.string() + " contains other files, such as " + name +
                     "; choose another --out");
  }
}

JsonReader read_json(const fs::path& path) {
  const JsonReader json(read_text(path),
                        {.name = path.string(), .remedy = "predict into another folder"});
  if (json.at("version").number() != 1) json.fail("is of a newer winnow");
  return json;
}

// The names of the facts that differ, in words.
std::string differences(const JsonReader& stored, const PredictFacts& facts) {
  std::string names;
  const auto add = [&](const std::string& name) { names += (names.empty() ? "" : ", ") + name; };
  for (const auto& [name, value] : facts) {
    const auto other = stored.find(name);
    if (!other || other->text() != value) add(name);
  }
  for (const auto& [name, value] : stored.members()) {
    if (!facts.contains(name)) add(name);
  }
  return names;
}

}  // namespace

std::vector<PredictTask> plan_tasks(const Inputs& inputs, std::size_t micro_batch,
                                    const WindowCut* windows) {
  const std::uint64_t batches = (kInputsATask + micro_batch - 1) / micro_batch;
  const std::uint64_t most = batches * micro_batch;
  std::vector<PredictTask> tasks;
  std::uint64_t bytes = 0;
  for (std::uint64_t at = 0; at < inputs.size(); ++at) {
    std::vector<WindowRange> bands;
    if (windows != nullptr) bands = windows->bands(at);
    if (bands.size() > 1) {
      for (const WindowRange& band : bands) tasks.push_back({at, 1, band});
      continue;
    }
    const std::uint64_t more = windows != nullptr ? inputs.bytes(at) : 0;
    const bool fits = !tasks.empty() && !tasks.back().is_band() && tasks.back().count < most &&
                      (windows == nullptr || bytes + more <= windows->most_bytes);
    if (!fits) {
      tasks.push_back({.first = at});
      bytes = 0;
    }
    ++tasks.back().count;
    bytes += more;
  }
  return tasks;
}

std::vector<std::uint64_t> joins_of(const std::vector<PredictTask>& tasks) {
  std::vector<std::uint64_t> joins;
  for (const PredictTask& task : tasks) {
    if (task.is_band() && task.band.begin == 0) joins.push_back(task.first);
  }
  return joins;
}

PredictFolder::PredictFolder(fs::path path, const PredictFacts& facts,
                             const std::vector<PredictTask>& tasks, const std::string& machine,
                             bool mixed)
    : path_(std::move(path)), digest_(digest_of(facts)) {
  const fs::path about = path_ / "predict.json";
  if (!fs::exists(about)) {
    check_is_free(path_);
    make_directories(path_);
    const Json json{{"version", 1},
                    {"digest", digest_},
                    {"tasks", tasks.size()},
                    {"joins", joins_of(tasks)},
                    {"of", facts}};
    write_file_durably(about, json.dump(1) + "\n");
  }
  const JsonReader stored = read_json(about);
  if (stored.at("digest").text() != digest_) {
    throw UsageError(path_.string() +
                     " contains other predictions: " + differences(stored.at("of"), facts) +
                     (fs::exists(report()) ? " differ" : " differ from those begun there") +
                     "; choose another folder");
  }
  make_directories(path_ / "machines");
  if (!fs::exists(report())) make_directories(path_ / "parts");
  const std::vector<std::string> others = machines();
  const bool is_known = std::ranges::find(others, machine) != others.end();
  if (!is_known && !others.empty() && !mixed && !fs::exists(report())) {
    throw UsageError("other machines (" + others.front() + ") work in " + path_.string() +
                     ", and this one (" + machine +
                     ") computes slightly different last digits; use machines of one kind, or "
                     "allow this with --mixed-machines");
  }
  if (!is_known && !fs::exists(report())) {
    const fs::path file = path_ / "machines" / to_hex(xxh3_128(as_bytes(machine)));
    write_file_durably(file, machine + "\n");
  }
}

fs::path PredictFolder::part(const std::string& job) const {
  return path_ / "parts" / job_key(job);
}

std::vector<std::string> PredictFolder::machines() const {
  std::vector<std::string> machines;
  for (const auto& entry : fs::directory_iterator(path_ / "machines")) {
    if (entry.path().filename().string().size() != 32) continue;  // a temporary file of a writer
    std::string text = read_text(entry.path());
    while (text.ends_with('\n')) text.pop_back();
    machines.push_back(std::move(text));
  }
  std::ranges::sort(machines);
  return machines;
}

BegunPredictions read_begun(const fs::path& folder) {
  const fs::path about = folder / "predict.json";
  if (!fs::exists(about)) {
    throw UsageError(
        folder.string() +
        " contains no predictions; name the folder that winnow predict wrote with --out");
  }
  const JsonReader stored = read_json(about);
  BegunPredictions begun{.digest = stored.at("digest").text(),
                         .tasks = stored.at("tasks").number<std::size_t>(),
                         .joins = {}};
  for (const JsonReader& input : stored.at("joins").items()) {
    begun.joins.push_back(input.number<std::uint64_t>());
  }
  return begun;
}

std::string task_job(const std::string& digest, std::size_t task) {
  return Json{{"of", digest}, {"task", task}}.dump();
}

std::string join_job(const std::string& digest, std::uint64_t input) {
  return Json{{"of", digest}, {"join", input}}.dump();
}

std::string assembly_job(const std::string& digest) {
  return Json{{"of", digest}, {"task", "assemble"}}.dump();
}

}  // namespace winnow::app
