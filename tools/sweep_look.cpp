#include "tools/sweep_look.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/error.h"
#include "common/file.h"
#include "common/json_reader.h"

namespace winnow::tools {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// Those words of a training that its evaluation takes as well: "--tta mirror", "--dtype=bf16".
std::vector<std::string> words_of_evaluation(const std::vector<std::string>& train) {
  constexpr std::array kNames{"--tta", "--dtype", "--backend"};
  std::vector<std::string> words;
  for (std::size_t i = 0; i < train.size(); ++i) {
    const std::string name = train[i].substr(0, train[i].find('='));
    if (std::ranges::find(kNames, name) == kNames.end()) continue;
    words.push_back(train[i]);
    if (name == train[i] && i + 1 < train.size()) words.push_back(train[++i]);
  }
  return words;
}

std::string test_job_of(const SweepOptions& o, const SweepPlan& plan, const std::string& run) {
  return Json{{"cache", plan.cache_digest},
              {"run", job_key(run)},
              {"test", plan.test.selection},
              {"eval", words_of_evaluation(o.train)}}
      .dump();
}

std::vector<std::string> words_of_test(const SweepOptions& o, const fs::path& folder,
                                       const Claim& claim, int threads) {
  const JsonReader job(claim.job(), {.name = "a job of the sweep"});
  const fs::path run = folder / "runs" / job.at("run").text() / "run";
  if (!fs::exists(run)) {
    throw Error(run.string() + " is gone, and is to be evaluated on test; remove results/" +
                run.parent_path().filename().string() + ".json and the file of that name in " +
                (folder / "claims").string() + " to have it trained again");
  }
  std::vector<std::string> words{"eval",
                                 run.string(),
                                 o.cache.string(),
                                 "--split",
                                 "test",
                                 "--selection",
                                 job.at("test").text(),
                                 "--threads",
                                 std::to_string(threads),
                                 "--json"};
  for (std::string& word : job.at("eval").texts()) words.push_back(std::move(word));
  return words;
}

std::string accuracies_of(const Claim&, const JsonReader& printed) {
  Json json{{"top1", printed.at("top1").real(0, 1)}, {"top1_leak_free", nullptr}};
  const JsonReader leak_free = printed.at("top1_leak_free");
  if (!leak_free.is_null()) json["top1_leak_free"] = leak_free.real(0, 1);
  return json.dump();
}

// Notes that test is looked at for this choice; how many there are by now.
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

}  // namespace

LastLook look_at_test(const SweepOptions& options, const TrainJobs& how, const SweepPlan& plan,
                      std::optional<std::size_t> recommended, const fs::path& folder,
                      JobQueue& queue, const Session& session) {
  LastLook look{.images = plan.test.images, .leaked = plan.test.leaked};
  if (look.images == 0) {
    look.why_not = "the cache has no test split, so what is said of the hold-out is all there is";
    return look;
  }
  if (!recommended) {
    look.why_not = "test was not looked at: that is for what is recommended";
    return look;
  }
  const std::vector<std::size_t> places = arms_to_test(plan.arms, *recommended);
  std::vector<std::string> jobs;
  for (const std::size_t place : places) {
    for (const std::string& run : plan.arms[place].jobs) {
      const std::optional<Outcome> trained = queue.outcome(run);
      if (trained && !trained->failed) jobs.push_back(test_job_of(options, plan, run));
    }
  }
  look.looks = note_look(folder, job_key(plan.arms[*recommended].jobs.front()));
  do_jobs({.verb = how.verb,
           .unit = "evaluations on test",
           .lanes = how.lanes,
           .threads = how.threads,
           .words = [&](const Claim& claim,
                        int threads) { return words_of_test(options, folder, claim, threads); },
           .outcome = accuracies_of},
          jobs, queue, session);
  look.arms = tested_arms(plan.arms, places, look.images, [&](const std::string& run) {
    return queue.outcome(test_job_of(options, plan, run));
  });
  return look;
}

}  // namespace winnow::tools
