#include "app/sweep/sweep_look.h"

#include <string>
#include <vector>

#include "app/experiment/test_look.h"

namespace winnow::app {

LastLook look_at_test(const SweepOptions& options, const TrainJobs& how, const SweepPlan& plan,
                      std::optional<std::size_t> recommended, JobQueue& queue,
                      const Session& session) {
  LastLook look{.images = plan.test.images, .leaked = plan.test.leaked};
  if (look.images == 0) {
    look.why_not = "the cache has no test split, so there are only results on the hold-out";
    return look;
  }
  if (!recommended) {
    look.why_not = "test was not evaluated, because nothing is recommended";
    return look;
  }
  const std::vector<std::size_t> places = arms_to_test(plan.arms, *recommended);
  std::vector<std::string> runs;
  for (const std::size_t place : places) {
    const std::vector<std::string>& jobs = plan.arms[place].jobs;
    runs.insert(runs.end(), jobs.begin(), jobs.end());
  }
  look.looks = note_look(queue.folder(), job_key(plan.arms[*recommended].jobs.front()));
  const OutcomeOf outcome_of = evaluate_on_test({.runs = how,
                                                 .cache_digest = plan.cache_digest,
                                                 .selection = plan.test.selection,
                                                 .train = options.train},
                                                runs, queue, session);
  look.arms = tested_arms(plan.arms, places, look.images, outcome_of);
  return look;
}

}  // namespace winnow::app
