#include "train/evaluate/test_augmentation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/rng.h"
#include "deferred_backend.h"
#include "net_options.h"
#include "places.h"
#include "train/backend/reference/reference.h"
#include "train/evaluate/evaluate.h"
#include "train/evaluate/view_mean.h"
#include "train/nets/losses.h"
#include "train/rewrites/rewrites.h"
#include "train/run/record/stored_run.h"
#include "train/step/feed.h"

namespace winnow::train::test_augmentation_test {

namespace fs = std::filesystem;
using testing::ThrowsMessage;

const fs::path kGolden = fs::path(WINNOW_GOLDEN) / "v1";

std::vector<std::vector<float>> random_logits(std::size_t views, std::size_t numbers) {
  CounterRng rng(3, 0, 0, RandomUse::kTest);
  std::vector<std::vector<float>> logits(views, std::vector<float>(numbers));
  for (std::vector<float>& view : logits) {
    for (float& x : view) x = (static_cast<float>(rng.below(4001)) - 2000) / 250;  // +-8
  }
  return logits;
}

std::vector<double> probabilities(std::span<const float> logits, bool sigmoid) {
  std::vector<double> p;
  double sum = 0;
  for (const float x : logits) {
    p.push_back(sigmoid ? 1 / (1 + std::exp(-double{x})) : std::exp(double{x}));
    sum += p.back();
  }
  for (double& x : p) x /= sigmoid ? 1 : sum;
  return p;
}

TEST(TestAugmentations, HaveNamesAndWeightsThatAddUpToOne) {
  std::set<std::string_view> names;
  for (const TestAugmentation& row : test_augmentations()) {
    SCOPED_TRACE(row.name);
    EXPECT_TRUE(names.insert(row.name).second);
    EXPECT_EQ(&find_test_augmentation(row.name), &row);
    double sum = 0;
    for (const WeightedView& one : row.views) sum += one.weight;
    EXPECT_EQ(sum, 1);
  }
}

TEST(TestAugmentations, RefuseANameNamingThoseThereAre) {
  EXPECT_THAT([] { find_test_augmentation("turn"); },
              ThrowsMessage<UsageError>("unknown test-time augmentation 'turn'; known: mirror, "
                                        "shift, mirror-shift, airbench94"));
}

TEST(ViewMeans, StandForTheMeanOfWhatTheRowSays) {
  constexpr std::size_t kClasses = 5;
  constexpr std::size_t kSamples = 4;
  for (const TestAugmentation& row : test_augmentations()) {
    const auto logits = random_logits(row.views.size(), kSamples * kClasses);
    for (const bool sigmoid : {false, true}) {
      SCOPED_TRACE(std::string(row.name) + (sigmoid ? " sigmoid" : " softmax"));
      std::vector<float> mean(kSamples * kClasses);
      average_views({&row, sigmoid}, logits, kClasses, mean);
      for (std::size_t first = 0; first < mean.size(); first += kClasses) {
        std::vector<double> wanted(kClasses);
        std::vector<double> wanted_logits(kClasses);
        for (std::size_t v = 0; v < row.views.size(); ++v) {
          const std::span<const float> view = std::span(logits[v]).subspan(first, kClasses);
          const std::vector<double> p = probabilities(view, sigmoid);
          for (std::size_t k = 0; k < kClasses; ++k) {
            wanted[k] += row.views[v].weight * p[k];
            wanted_logits[k] += row.views[v].weight * double{view[k]};
          }
        }
        const std::span<const float> found = std::span(mean).subspan(first, kClasses);
        const std::vector<double> p = probabilities(found, sigmoid);
        for (std::size_t k = 0; k < kClasses; ++k) {
          if (row.mean == MeanOf::kLogits) {
            EXPECT_EQ(found[k], static_cast<float>(wanted_logits[k]));
          } else {
            EXPECT_NEAR(p[k], wanted[k], 2e-6 * wanted[k]);
          }
        }
      }
    }
  }
}

TEST(ViewMeans, AreFiniteWhereProbabilitiesAreTooSmallForADouble) {
  const TestAugmentation& mirror = find_test_augmentation("mirror");
  std::vector<float> mean(3);
  const std::vector<std::vector<float>> apart = {{5000, 0, -5000}, {5000, 0, -4000}};
  average_views({&mirror, false}, apart, 3, mean);
  EXPECT_THAT(mean, testing::Each(testing::Truly([](float x) { return std::isfinite(x); })));
  EXPECT_NEAR(mean[0], 0, 1e-6);
  EXPECT_NEAR(mean[1], -5000, 1e-3);
  EXPECT_NEAR(mean[2], -9000 - std::log(2.0), 1e-3);  // half of the likelier view
  average_views({&mirror, true}, apart, 3, mean);
  EXPECT_NEAR(mean[0], 5000, 1e-3);
  EXPECT_NEAR(mean[1], 0, 1e-6);
  EXPECT_NEAR(mean[2], -4000 - std::log(2.0), 1e-3);
}

TEST(ViewMeans, OfEqualPredictionsAreThatPrediction) {
  for (const TestAugmentation& row : test_augmentations()) {
    SCOPED_TRACE(row.name);
    const std::vector<std::vector<float>> same(row.views.size(), random_logits(1, 6).front());
    for (const bool sigmoid : {false, true}) {
      std::vector<float> mean(6);
      average_views({&row, sigmoid}, same, 6, mean);
      // With softmax, all logits may shift by the same amount.
      const float moved = row.mean == MeanOf::kProbabilities && !sigmoid ? mean[0] - same[0][0] : 0;
      for (std::size_t k = 0; k < 6; ++k) EXPECT_NEAR(mean[k] - moved, same[0][k], 2e-6);
    }
  }
}

TEST(LossesOfLogits, AreThoseOfTheProgram) {
  for (const LossRow& row : losses()) {
    // Such a loss is not defined for an image, and its runs are not evaluated
    if (!row.reads_labels()) continue;
    SCOPED_TRACE(row.name);
    NetOptions options = square_images(16, 3);
    options.batch = 4;
    options.loss = {.name = std::string(row.name), .label_smoothing = 0.2};
    const Graph graph = for_inference(find_net("lenet").make(options));
    Model model = make_model(graph, 5);
    const auto backend = make_reference_backend();
    const auto weights = place_weights(*backend, model);
    const auto program = backend->compile(graph, {});
    weights->bind(*program);
    weights->load();
    program->load_parameters();

    Feed feed(*program);
    const auto loss = bind_output(*program, OutputKind::kLoss);
    const auto wanted = bind_output(*program, OutputKind::kPerSampleLoss);
    const auto logits = bind_output(*program, OutputKind::kLogits);
    pipeline::Batch batch;
    CounterRng rng(1, 0, 0, RandomUse::kTest);
    for (int i = 0; i < 4 * 16 * 16 * 3; ++i) {
      batch.pixels.push_back(static_cast<std::uint8_t>(rng.below(256)));
    }
    batch.ids = {0, 1, 2, 3};
    batch.weights = {1, 1, 1, 1};
    batch.label_offsets = {0, 1, 2, 3, 4};
    batch.labels = {0, 2, 1, 2};
    batch.label_weights = {1, 1, 1, 1};
    feed.bind(batch, 0, 1.0);
    program->run(0, graph.nodes.size());
    program->wait(graph.nodes.size());

    std::vector<float> found(4);
    LossOfLogits(graph).compute(logits, feed.targets(), found);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(found[i], wanted[i], 1e-6 * wanted[i]);
  }
}

// The golden run, evaluated on its 24 training samples in micro-batches of 2.
Evaluation evaluated(Backend& backend, int lanes, std::string_view tta,
                     const std::function<void(Model&)>& change = {}) {
  StoredRun run = load_run(kGolden / "run", {}, [](const std::string&) {});
  if (change) change(run.model);
  const auto weights = place_weights(backend, run.model);
  const auto programs = backend.compile_lanes(run.graph, {}, lanes);
  for (const auto& program : programs) weights->bind(*program);
  weights->load();
  const auto comm = comm::make_single();
  const auto cache = pipeline::open_cache(kGolden / "raw");
  const auto samples = pipeline::evaluation_samples(*cache, Split::kTrain, "");
  EvaluationTask task{{cache}, samples.all, nullptr, true, {}};
  if (!tta.empty()) task.view_mean.of = &find_test_augmentation(tta);
  return evaluate(programs, task,
                  {.geometry = geometry_of(run.config.setup), .recipe = eval_recipe(0)}, *comm, {});
}

TEST(EvaluationOfViews, OfWeightsThatAreNotFiniteHasNoHits) {
  const auto reference = make_reference_backend();
  for (const float value : {std::nanf(""), HUGE_VALF}) {
    for (const std::string_view tta : {std::string_view(), test_augmentations()[0].name}) {
      const Evaluation found = evaluated(*reference, 1, tta, [&](Model& model) {
        std::ranges::fill(model.tensors.back().data, value);  // the biases of the logits
      });
      EXPECT_EQ(found.samples, 24U);
      EXPECT_EQ(found.top1, 0);
      EXPECT_EQ(found.top5, 0);
      for (std::size_t i = 0; i < 24; ++i) EXPECT_NE(found.predictions[i], found.labels[i]);
    }
  }
}

TEST(EvaluationOfViews, IsTheSameOnAnyLanesAndWhereProgramsAreDoneLater) {
  const auto reference = make_reference_backend();
  const Evaluation plain = evaluated(*reference, 1, "");
  for (const TestAugmentation& row : test_augmentations()) {
    SCOPED_TRACE(row.name);
    const Evaluation wanted = evaluated(*reference, 1, row.name);
    EXPECT_EQ(wanted.samples, 24U);
    EXPECT_NE(wanted.logits, plain.logits);
    EXPECT_NE(wanted.loss, plain.loss);
    const auto deferred = make_deferred_backend(std::make_shared<DeferredState>());
    for (const Evaluation& found :
         {evaluated(*reference, 3, row.name), evaluated(*deferred, 1, row.name)}) {
      EXPECT_EQ(found.loss, wanted.loss);
      EXPECT_EQ(found.losses, wanted.losses);
      EXPECT_EQ(found.predictions, wanted.predictions);
      EXPECT_EQ(found.logits, wanted.logits);
    }
  }
}

}  // namespace winnow::train::test_augmentation_test
