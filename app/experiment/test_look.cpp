#include "app/experiment/test_look.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "app/experiment/train_words.h"
#include "common/error.h"
#include "common/file.h"
#include "common/json.h"
#include "common/json_reader.h"

namespace winnow::app {
namespace {

namespace fs = std::filesystem;
// The words of a training that its evaluation takes as well: "--tta mirror", "--dtype=bf16".
std::vector<std::string> words_of_evaluation(const std::vector<std::string>& train) {
  constexpr std::array kNames{"--tta", "--dtype", "--backend"};
  std::vector<std::string> words;
  for (std::size_t i = 0; i < train.size(); ++i) {
    const std::string name = flag_of_word(train[i]);
    if (std::ranges::find(kNames, name) == kNames.end()) continue;
    words.push_back(train[i]);
    if (name == train[i] && i + 1 < train.size()) words.push_back(train[++i]);
  }
  return words;
}

std::vector<std::string> words_of_test(const TestLook& how, const fs::path& folder,
                                       const Claim& claim, int threads) {
  const JsonReader job(claim.job(), {.name = "a job of the " + how.runs.verb});
  const fs::path run = folder / "runs" / job.at("run").text() / "run";
  if (!fs::exists(run)) {
    throw Error(run.string() +
                " is missing, but must be evaluated on test; to train it again, remove results/" +
                run.parent_path().filename().string() + ".json and the file of that name in " +
                (folder / "claims").string());
  }
  std::vector<std::string> words{"eval", run.string(), how.runs.cache.string(), "--split", "test"};
  if (const std::string selection = job.at("test").text(); !selection.empty()) {
    words.insert(words.end(), {"--selection", selection});
  }
  words.insert(words.end(), {"--threads", std::to_string(threads), "--json"});
  for (std::string& word : job.at("eval").texts()) words.push_back(std::move(word));
  return words;
}

Outcome accuracies_of(const Claim&, const JsonReader& printed) {
  Json json{{"top1", printed.at("top1").real(0, 1)}, {"top1_leak_free", nullptr}};
  const JsonReader leak_free = printed.at("top1_leak_free");
  if (!leak_free.is_null()) json["top1_leak_free"] = leak_free.real(0, 1);
  return {.failed = false, .text = json.dump()};
}

}  // namespace

std::string test_job(const TestLook& how, const std::string& run) {
  return Json{{"cache", how.cache_digest},
              {"run", job_key(run)},
              {"test", how.selection},
              {"eval", words_of_evaluation(how.train)}}
      .dump();
}

OutcomeOf evaluate_on_test(const TestLook& how, const std::vector<std::string>& runs,
                           JobQueue& queue, const Session& session) {
  std::vector<std::string> jobs;
  for (const std::string& run : runs) {
    const std::optional<Outcome> trained = queue.outcome(run);
    if (trained && !trained->failed) jobs.push_back(test_job(how, run));
  }
  do_jobs({.verb = how.runs.verb,
           .unit = "evaluations on test",
           .lanes = how.runs.lanes,
           .threads = how.runs.threads,
           .words = [&](const Claim& claim,
                        int threads) { return words_of_test(how, queue.folder(), claim, threads); },
           .outcome = accuracies_of},
          jobs, queue, session);
  return [how, &queue](const std::string& run) { return queue.outcome(test_job(how, run)); };
}

std::uint64_t note_look(const fs::path& folder, const std::string& choice) {
  const fs::path path = folder / "looks.json";
  std::vector<std::string> choices;
  if (fs::exists(path)) {
    const JsonReader stored(read_text(path), {.name = path.string()});
    if (stored.at("version").number() != 1) stored.fail("is of a newer winnow");
    choices = stored.at("choices").texts();
  }
  if (std::ranges::find(choices, choice) == choices.end()) {
    choices.push_back(choice);
    write_file_durably(path, Json{{"version", 1}, {"choices", choices}}.dump() + "\n");
  }
  return choices.size();
}

}  // namespace winnow::app
