// Steps on several lanes, buckets and helping threads, for the thread sanitizer. The backends do
// not use OpenMP, whose threads it cannot see.
#include <gtest/gtest.h>

#include "common/error.h"
#include "deferred_backend.h"
#include "learner.h"

namespace winnow::train::step_threads_test {

struct Cut {
  std::vector<int> lanes;
  std::size_t bucket_bytes;
  int threads;
};

// The first convolution's weights after a few steps.
std::vector<float> learned(const Cut& cut, bool reproducible, const MakeBackend& make = reference) {
  const RunPlan plan = cut_into(cut.lanes, cut.bucket_bytes, reproducible, cut.threads);
  const Graph graph = training_graph("lenet", 1);
  Learner learner(graph, plan, make);
  pipeline::Batch batch = random_batch(graph, static_cast<std::size_t>(micro_batches_of(plan)));
  for (int step = 0; step < 3; ++step) learner.step(batch);
  learner.weights->store();
  return learner.model.find("conv1.weight").data;
}

TEST(StepThreads, LanesBucketsAndHelpersShareNothingUnguarded) {
  const std::vector<float> whole = learned({{4}, 1 << 30, 1}, true);
  for (const Cut& cut : {Cut{{1, 1, 1, 1}, 1, 4}, Cut{{2, 2}, 4096, 5}, Cut{{3, 1}, 1 << 30, 6},
                         Cut{{4}, 1 << 30, 4}}) {
    EXPECT_EQ(learned(cut, true), whole);
    EXPECT_EQ(learned(cut, false), learned(cut, false));
  }
}

TEST(StepThreads, ProgramsBesideTheHostHaveHelpersToo) {
  const MakeBackend deferred = [] {
    return make_deferred_backend(std::make_shared<DeferredState>());
  };
  const Cut cut{{3}, 4096, 4};
  EXPECT_EQ(learned(cut, true, deferred), learned(cut, true));
  EXPECT_EQ(learned(cut, false, deferred), learned(cut, false));
}

// A failing step leaves threads and programs at rest, so that the next one can begin.
TEST(StepThreads, AFailureEndsAllWork) {
  const Graph graph = training_graph("lenet", 1);
  const auto state = std::make_shared<DeferredState>();
  Learner learner(graph, cut_into({3}, 4096, false, 4),
                  [&] { return make_deferred_backend(state); });
  pipeline::Batch batch = random_batch(graph, 3);
  for (const int wait : {1, 5}) {
    state->failing_wait = wait;
    EXPECT_THROW(learner.step(batch), Error);
    EXPECT_EQ(state->unfinished, 0);
    EXPECT_NO_THROW(learner.step(batch));
  }
}

}  // namespace winnow::train::step_threads_test
