// Evaluation through the stages of a pipeline.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/load/dataset.h"
#include "places.h"
#include "tests/common/thread_ranks.h"
#include "tests/train/net_options.h"
#include "train/backend/backend.h"
#include "train/evaluate/evaluate.h"
#include "train/evaluate/micro_batches.h"
#include "train/evaluate/test_augmentation.h"
#include "train/model/model.h"
#include "train/nets/local_updates.h"
#include "train/rewrites/rewrites.h"
#include "train/run/record/setup.h"

namespace winnow::train::stages_evaluation_test {

const std::filesystem::path kGolden = std::filesystem::path(WINNOW_GOLDEN) / "v1";

// Rounds.

using Rounds = std::vector<std::optional<Turn>>;

std::vector<Rounds> rounds_of_all(const Shares& shares) {
  std::vector<Rounds> all;
  for (int rank = 0; rank < shares.stages.total(); ++rank) all.push_back(rounds_of(shares, rank));
  return all;
}

const std::vector<RankStages> kForms = {{{1}},    {{4}},       {{1, 1}},    {{3, 1}},
                                        {{1, 3}}, {{2, 3, 1}}, {{1, 1, 1}}, {{2, 2, 2, 2}}};

TEST(Rounds, HaveEveryMicroBatchOnceInEachStage) {
  for (const RankStages& stages : kForms) {
    for (const std::size_t samples : {1U, 7U, 30U, 31U}) {
      const Shares shares{samples, 3, stages};
      const std::vector<Rounds> all = rounds_of_all(shares);
      std::vector<std::multiset<std::int64_t>> seen(static_cast<std::size_t>(stages.count()));
      for (int rank = 0; rank < stages.total(); ++rank) {
        const Rounds& rounds = all[static_cast<std::size_t>(rank)];
        EXPECT_EQ(rounds.size(), all.front().size());
        std::int64_t number = 0;
        for (const std::optional<Turn>& turn : rounds) {
          if (!turn) continue;
          EXPECT_EQ(turn->number, number++);
          seen[static_cast<std::size_t>(stages.stage_of(rank))].insert(turn->micro);
          if (stages.stage_of(rank) + 1 < stages.count()) continue;
          const auto [first, last] = shares.micro_batches_of(rank);
          EXPECT_TRUE(first <= turn->micro && turn->micro < last);
        }
      }
      for (const auto& micros : seen) {
        EXPECT_EQ(micros.size(), static_cast<std::size_t>(shares.micro_batches()));
        EXPECT_EQ(std::set(micros.begin(), micros.end()).size(), micros.size());
      }
    }
  }
}

// A rank takes a turn when the values that it needs are there, and those that it sent before have
// been taken.
TEST(Rounds, NeverWaitForEachOther) {
  for (const RankStages& stages : kForms) {
    const std::vector<Rounds> all = rounds_of_all({61, 3, stages});
    std::vector<std::optional<Turn>> on_its_way(all.size());  // by sender
    std::vector<std::size_t> next(all.size(), 0);
    std::size_t done = 0;
    for (bool moves = true; moves;) {
      moves = false;
      for (std::size_t rank = 0; rank < all.size(); ++rank) {
        if (next[rank] == all[rank].size()) continue;
        if (const std::optional<Turn>& turn = all[rank][next[rank]]) {
          if (turn->to >= 0 && on_its_way[rank]) continue;
          if (turn->from >= 0) {
            std::optional<Turn>& values = on_its_way[static_cast<std::size_t>(turn->from)];
            if (!values || values->to != static_cast<int>(rank)) continue;
            EXPECT_EQ(values->micro, turn->micro);
            values.reset();
          }
          if (turn->to >= 0) on_its_way[rank] = turn;
        }
        ++next[rank];
        ++done;
        moves = true;
      }
    }
    EXPECT_EQ(done, all.size() * all.front().size());
  }
}

// Evaluation.

// resnet20 in three stages, with heads.
Graph staged() {
  NetOptions net = square_images(8, 3);
  net.batch = 2;
  const LocalSetup local{
      .updates = "greedy", .ends = {"layer1.2.relu2", "layer2.2.relu2"}, .head = "linear"};
  return fuse(with_heads(local, fuse(find_net("resnet20").make(net)), net));
}

// The golden samples, evaluated by graphs that this rank has.
Evaluation evaluated(const Graph& graph, comm::Communicator& comm, int lanes, std::string_view tta,
                     std::optional<EvaluationStages> stages) {
  const auto backend = make_backend("onednn");  // computes in f32, as values are handed on
  Model model = make_model(staged(), 5);
  const auto weights = place_weights(*backend, model);
  const auto programs = backend->compile_lanes(graph, {}, lanes);
  for (const auto& program : programs) weights->bind(*program);
  weights->load();
  const auto cache = pipeline::open_cache(kGolden / "raw");
  const auto samples = pipeline::evaluation_samples(*cache, Split::kTrain, "");
  EvaluationTask task{
      .source = {cache}, .samples = samples.all, .with_logits = true, .stages = std::move(stages)};
  if (!tta.empty()) task.view_mean.of = &find_test_augmentation(tta);
  return evaluate(programs, task, {.geometry = {8, 8, 3}, .recipe = eval_recipe(0)}, comm, {});
}

class EvaluationThroughStages : public testing::TestWithParam<std::vector<int>> {};

TEST_P(EvaluationThroughStages, FindsWhatOneProcessFinds) {
  const RankStages ranks{GetParam()};
  const Graph forward = staged();
  for (const std::string_view tta : {"", "mirror"}) {
    const Evaluation wanted =
        evaluated(for_inference(forward), *comm::make_single(), 1, tta, std::nullopt);
    for (const int lanes : {1, 3}) {
      test::ThreadRanks(ranks.total()).run([&](comm::Communicator& comm) {
        const Graph own = at_stage_for_inference(forward, ranks.stage_of(comm.rank()));
        const Evaluation found = evaluated(own, comm, lanes, tta, EvaluationStages{ranks});
        EXPECT_EQ(found.loss, wanted.loss);
        EXPECT_EQ(found.top1, wanted.top1);
        if (comm.rank() != 0) return;
        EXPECT_EQ(found.losses, wanted.losses);
        EXPECT_EQ(found.labels, wanted.labels);
        EXPECT_EQ(found.predictions, wanted.predictions);
        EXPECT_EQ(found.logits, wanted.logits);
      });
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, EvaluationThroughStages,
                         testing::Values(std::vector{1, 1, 1}, std::vector{2, 1, 1},
                                         std::vector{1, 2, 3}));

}  // namespace winnow::train::stages_evaluation_test
