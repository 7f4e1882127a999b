// The trainer on a backend that computes later and keeps weights elsewhere, compared with the
// reference backend. tests/end_to_end trains through the program.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "common/comm/agreement.h"
#include "common/error.h"
#include "common/file.h"
#include "deferred_backend.h"
#include "places.h"
#include "tests/common/temporary_folder.h"
#include "train/backend/reference/reference.h"
#include "train/checkpoint/checkpoint.h"
#include "train/model/initial_weights.h"
#include "train/nets/nets.h"
#include "train/optim/optimizer.h"
#include "train/run/evaluations/evaluate_run.h"
#include "train/run/start/job.h"
#include "train/run/start/whiten.h"
#include "train/run/train.h"

namespace winnow::train::trainer_test {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// 24 grey training images of 16 x 16.
const fs::path kCache = fs::path(WINNOW_GOLDEN) / "v1" / "raw";

class Trainer : public testing::Test {
 protected:
  TrainOptions options(const std::string& run, std::int64_t steps) const {
    TrainOptions o;
    o.net.name = "lenet";
    o.data.cache = kCache;
    o.recipe.epochs = 2;
    o.batch = {.batch = 6, .micro_batch = 2};
    o.execution.backend = "reference";
    o.execution.all_reduce.bucket_bytes = 4096;
    o.run.out = folder_ / run;
    o.run.max_steps = steps;
    return o;
  }

  TrainResult trained(const TrainOptions& o, Backend& backend) {
    const auto comm = comm::make_single();
    return train(
        o, *comm, {}, [&](const std::string& sentence) { notes_.push_back(sentence); }, nullptr,
        &backend);
  }

  std::string refusal_of(const TrainOptions& o, Backend& backend) {
    try {
      trained(o, backend);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "none";
  }

  static std::vector<nlohmann::json> lines(const fs::path& run) {
    std::vector<nlohmann::json> rows;
    std::istringstream text(read_text(run / "metrics.jsonl"));
    for (std::string line; std::getline(text, line);) rows.push_back(nlohmann::json::parse(line));
    return rows;
  }

  // Values of one metric in the lines of one step.
  static std::vector<double> values(const fs::path& run, const std::string& name,
                                    std::int64_t step) {
    std::vector<double> found;
    for (const nlohmann::json& line : lines(run)) {
      if (line["step"] == step && line.contains(name)) found.push_back(line[name]);
    }
    return found;
  }

  // Number of parameters, even of an outline without data.
  static std::int64_t model_size(const Model& model) {
    std::int64_t count = 0;
    for (const Model::Tensor& t : model.tensors) count += element_count(t.about.shape);
    return count;
  }

  Checkpoint last_checkpoint(const std::string& run) const {
    return load_checkpoint(*newest_checkpoint(folder_ / run / "checkpoints"));
  }

  std::string state_of(const std::string& run) const {
    return read_text(*newest_checkpoint(folder_ / run / "checkpoints") / "state.json");
  }

  static void expect_equal(const std::vector<NamedTensor>& a, const std::vector<NamedTensor>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t t = 0; t < a.size(); ++t) {
      EXPECT_EQ(a[t].name, b[t].name);
      EXPECT_EQ(a[t].data, b[t].data) << a[t].name;
    }
  }

  const TemporaryFolder folder_;
  std::vector<std::string> notes_;
};

TEST_F(Trainer, KeepsWhatIsElsewhereInItsCheckpointsAndGoesOnFromThem) {
  const auto reference = make_reference_backend();
  const TrainResult want = trained(options("whole", 6), *reference);
  const auto before = make_deferred_backend(std::make_shared<DeferredState>());
  trained(options("cut", 3), *before);
  const auto after = make_deferred_backend(std::make_shared<DeferredState>());
  TrainOptions go_on = options("cut", 6);
  go_on.run.resume = true;
  const TrainResult got = trained(go_on, *after);

  EXPECT_EQ(got.steps, 6);
  ASSERT_TRUE(want.score && got.score);
  EXPECT_EQ(got.score->split, want.score->split);
  EXPECT_EQ(got.score->top1, want.score->top1);
  const Checkpoint whole = last_checkpoint("whole");
  const Checkpoint cut = last_checkpoint("cut");
  EXPECT_EQ(cut.step, 6);
  expect_equal(cut.model, whole.model);
  expect_equal(cut.optimizer, whole.optimizer);

  EvalOptions eval;
  eval.run = folder_ / "cut";
  eval.data.cache = kCache;
  eval.with_logits = true;
  const auto comm = comm::make_single();
  const EvalResult expected = evaluate_run(eval, *reference, *comm, {}, [](const std::string&) {});
  const EvalResult found = evaluate_run(eval, *after, *comm, {}, [](const std::string&) {});
  EXPECT_GT(found.evaluation.samples, 0U);
  EXPECT_EQ(found.evaluation.logits, expected.evaluation.logits);
  EXPECT_EQ(found.evaluation.loss, expected.evaluation.loss);
  EXPECT_EQ(found.evaluation.top1, got.score->top1);
}

// However a tensor was initialised: if no step changes it, its averages equal it.
TEST_F(Trainer, AveragesOfEachNetBeginWithTheWeightsThatItsRunBeginsWith) {
  constexpr std::int64_t kMostParameters = 12'000'000;
  const auto backend = make_reference_backend();
  const auto comm = comm::make_single();
  std::set<std::string> whitened;
  std::size_t tried = 0;
  for (const Net& net : nets()) {
    SCOPED_TRACE(net.name);
    TrainOptions o = options("none", 1);
    o.net.name = net.name;
    o.data.image_side_px = net.default_side_px;
    o.recipe.options = {{"ema_decay", {0.99}}, {"lookahead_steps", {5}}};
    const Job job = open_job(o, *backend, *comm);
    Model model = outline_model(job.forward, o.start, *comm);
    if (model_size(model) > kMostParameters) continue;
    begin_model(model, job.forward, o.recipe.seed, o.start, *comm, [](const std::string&) {});
    const auto weights =
        place_weights(*backend, model, {&find_optimizer("sgd"), o.recipe.options, 10});
    const float* const placed = model.tensors.front().ema.data();
    complete_weights(model, job, o.start, o.execution.threads.decode, *comm);
    // The address that the backend's weights hold
    EXPECT_EQ(model.tensors.front().ema.data(), placed);
    for (const Model::Tensor& t : model.tensors) {
      if (t.about.init == Init::kWhitening) {
        EXPECT_NE(t.data, initial_value(t.about, o.recipe.seed));
        whitened.insert(std::string(net.name));
      }
      EXPECT_EQ(t.ema, t.data) << t.about.name;
      if (t.about.kind == ValueKind::kParameter) {
        EXPECT_EQ(t.slow, t.data) << t.about.name;
      }
    }
    ++tried;
  }
  EXPECT_THAT(whitened, Contains("airbench94"));
  EXPECT_GE(tried, nets().size() / 2);
}

TEST_F(Trainer, AverageOfWhitenedWeightsIsEvaluatedAsTheyAre) {
  TrainOptions o = options("whitened", 1);
  o.net.name = "airbench94";
  o.data.image_side_px = 16;
  o.recipe.rate = {.base = 0, .warmup_epochs = 0};
  o.recipe.options = {{"ema_decay", {0.5}}, {"weight_decay", {0}}};
  o.execution.backend = "onednn";
  const auto backend = make_backend("onednn", {});
  trained(o, *backend);
  const Checkpoint saved = last_checkpoint("whitened");
  ASSERT_EQ(saved.ema.size(), saved.model.size());
  for (std::size_t i = 0; i < saved.model.size(); ++i) {
    if (saved.model[i].name.find("running_") != std::string::npos) continue;
    EXPECT_EQ(saved.ema[i].data, saved.model[i].data) << saved.model[i].name;
  }
}

TEST_F(Trainer, RefusesToStopBeforeTheStepItIsAt) {
  const auto reference = make_reference_backend();
  trained(options("run", 3), *reference);
  TrainOptions back = options("run", 2);
  back.run.resume = true;
  const std::string refusal = refusal_of(back, *reference);
  EXPECT_THAT(refusal, HasSubstr("--max-steps 2 is below the 3 steps"));
  back.run.max_steps = 3;
  EXPECT_EQ(trained(back, *reference).steps, 3);
}

TEST_F(Trainer, SaysThatABatchIsLargerThanTheData) {
  const auto reference = make_reference_backend();
  TrainOptions o = options("large", 1);
  o.batch = {.batch = 66, .micro_batch = 11};
  trained(o, *reference);
  EXPECT_THAT(notes_,
              Contains(HasSubstr("--batch-size 66 is larger than the 24 training samples")));
  notes_.clear();
  trained(options("small", 1), *reference);
  EXPECT_THAT(notes_, Not(Contains(HasSubstr("training samples"))));
}

// A batch of 66 is nearly three epochs of 24 samples, so each step ends several.
TEST_F(Trainer, EvaluatesAfterEachStepWhereABatchIsLargerThanAnEpoch) {
  const auto reference = make_reference_backend();
  TrainOptions whole = options("whole", 0);
  whole.data.holdout = 0.25;
  whole.recipe.epochs = 15;
  whole.batch = {.batch = 66, .micro_batch = 11};
  whole.run.checkpoints.kept = 9;
  const TrainResult want = trained(whole, *reference);
  ASSERT_GT(want.steps, 3);
  std::vector<double> losses;
  for (std::int64_t step = 1; step <= want.steps; ++step) {
    ASSERT_EQ(values(whole.run.out, "val.loss", step).size(), 1U) << step;
    EXPECT_TRUE(fs::exists(whole.run.out / "checkpoints" / ("step-" + std::to_string(step))));
  }
  TrainOptions cut = whole;
  cut.run.out = folder_ / "cut";
  int asked = 0;
  cut.run.stop = [&] { return ++asked == 2; };
  EXPECT_THROW(trained(cut, *reference), comm::AgreedError);
  cut.run.stop = {};
  cut.run.resume = true;
  const TrainResult got = trained(cut, *reference);
  for (std::int64_t step = 1; step <= want.steps; ++step) {
    EXPECT_EQ(values(cut.run.out, "val.loss", step), values(whole.run.out, "val.loss", step));
  }
  EXPECT_EQ(got.steps, want.steps);
  EXPECT_EQ(got.train_loss, want.train_loss);
  expect_equal(last_checkpoint("cut").model, last_checkpoint("whole").model);
}

// The fourth step is the last: constant weights do not improve. A stop leaves the evaluation to the
// next start, which takes no step of its own.
TEST_F(Trainer, SaysNothingOfStepsThatAStartDidNotDo) {
  const auto reference = make_reference_backend();
  TrainOptions o = options("run", 0);
  o.data.holdout = 0.25;
  o.recipe.rate.base = 0;
  o.run.log.interval = 3;
  o.run.evaluation = {.interval = 2, .keep_best = "loss", .patience = 1};
  int asked = 0;
  o.run.stop = [&] { return ++asked == 4; };
  EXPECT_THROW(trained(o, *reference), comm::AgreedError);
  o.run.stop = {};
  o.run.resume = true;
  write_file_durably(o.run.out / "summary.csv", "of the time before\n");
  EXPECT_EQ(trained(o, *reference).steps, 4);
  EXPECT_THAT(notes_, Contains(HasSubstr("ended after step 4")));
  EXPECT_EQ(values(o.run.out, "train.loss", 4).size(), 1U);
  EXPECT_EQ(values(o.run.out, "train.weight_norm", 4).size(), 1U);
  EXPECT_THAT(values(o.run.out, "train.gradient_norm", 4), IsEmpty());
  EXPECT_THAT(values(o.run.out, "train.total_ips", 4), IsEmpty());
  EXPECT_EQ(values(o.run.out, "train.gradient_norm", 3).size(), 1U);
  EXPECT_THAT(read_text(o.run.out / "summary.csv"), HasSubstr("val.loss"));
}

TEST_F(Trainer, RemovesTheSummaryOfARunThatGoesOn) {
  const auto reference = make_reference_backend();
  TrainOptions o = options("run", 1);
  trained(o, *reference);
  ASSERT_TRUE(fs::exists(o.run.out / "summary.csv"));
  o.run.max_steps = 4;
  o.run.resume = true;
  o.run.stop = [] { return true; };
  EXPECT_THROW(trained(o, *reference), comm::AgreedError);
  EXPECT_FALSE(fs::exists(o.run.out / "summary.csv")) << "of the first step only";
}

TEST_F(Trainer, RefusesToEvaluateOftenWhereThereIsNothingToEvaluateOn) {
  const auto reference = make_reference_backend();
  TrainOptions o = options("run", 1);
  o.data.cache = folder_ / "no_val";
  fs::copy(kCache, o.data.cache, fs::copy_options::recursive);
  o.run.evaluation.interval = 2;
  const std::string refusal = refusal_of(o, *reference);
  EXPECT_THAT(refusal, AllOf(HasSubstr("--eval-every"), HasSubstr("--holdout")));
}

// The best checkpoint belongs to a step that is lost with the newest checkpoint, or the link points
// to a later one.
TEST_F(Trainer, ForgetsABestCheckpointThatIsGone) {
  const auto reference = make_reference_backend();
  TrainOptions o = options("run", 4);
  o.data.holdout = 0.25;
  o.recipe.rate.base = 0;  // the first evaluation stays the best
  o.run.checkpoints.interval = 1;
  o.run.checkpoints.kept = 3;
  o.run.evaluation = {.interval = 1, .keep_best = "loss"};
  trained(o, *reference);
  const fs::path checkpoints = o.run.out / "checkpoints";
  ASSERT_EQ(fs::read_symlink(checkpoints / "best"), "step-1");
  fs::remove_all(checkpoints / "step-1");
  fs::resize_file(checkpoints / "step-4" / "model.safetensors", 99);
  o.run.max_steps = 5;
  o.run.resume = true;
  notes_.clear();
  const TrainResult got = trained(o, *reference);
  EXPECT_THAT(notes_, Contains(AllOf(HasSubstr("of step 1, is missing"),
                                     HasSubstr("chosen from later evaluations"))));
  ASSERT_TRUE(got.best);
  EXPECT_EQ(got.best->step, 4) << "the first that was evaluated since";
  EXPECT_EQ(fs::read_symlink(checkpoints / "best"), "step-4");
}

TEST_F(Trainer, KeepsTheLastGoodStateWhereAStepIsNotFinite) {
  const auto reference = make_reference_backend();
  for (const char* how : {"plain", "exact", "in_f16"}) {
    const bool reproducible = std::string_view(how) == "exact";
    TrainOptions o = options(how, 6);
    if (std::string_view(how) == "in_f16") o.execution.dtype = DType::kF16;
    o.recipe.rate.base = 1e30;
    o.recipe.rate.warmup_epochs = 0;
    o.execution.reproducible = reproducible;
    try {
      trained(o, *reference);
      FAIL();
    } catch (const comm::AgreedError& error) {
      EXPECT_THAT(error.what(), HasSubstr("step 2: the loss is not finite on rank 0 (samples "));
      EXPECT_THAT(error.what(), HasSubstr("that of fc2."));
      EXPECT_THAT(error.what(), HasSubstr("step-1/model.safetensors"));
    }
    EXPECT_EQ(load_checkpoint(*newest_checkpoint(o.run.out / "checkpoints")).step, 1);
    const nlohmann::json last = lines(o.run.out).back();
    EXPECT_EQ(last["step"], 2);
    EXPECT_THAT(last["train.not_finite"].get<std::string>(), HasSubstr("step 2: the loss"));
  }
}

// A step whose loss is finite may leave weights that are not.
TEST_F(Trainer, NoCheckpointHasWeightsThatAreNotFinite) {
  const auto reference = make_reference_backend();
  for (const std::int64_t interval : {0, 1}) {
    const std::string run = "run-" + std::to_string(interval);
    TrainOptions o = options(run, 3);
    o.recipe.rate = {.base = std::numeric_limits<double>::quiet_NaN(), .warmup_epochs = 0};
    o.run.checkpoints.interval = static_cast<int>(interval);
    try {
      trained(o, *reference);
      ADD_FAILURE() << "it was trained";
    } catch (const comm::AgreedError& error) {
      EXPECT_THAT(error.what(), HasSubstr("not finite"));
      EXPECT_THAT(error.what(), Not(HasSubstr("last good weights")));
    }
    EXPECT_EQ(newest_checkpoint(folder_ / run / "checkpoints"), std::nullopt);
  }
}

// The checkpoint holds the factor and how long it has been unchanged. A power of two changes no
// weight here.
TEST_F(Trainer, KeepsItsLossScaleWhereItGoesOn) {
  const auto reference = make_reference_backend();
  TrainOptions whole = options("whole", 6);
  whole.run.log.interval = 2;
  trained(whole, *reference);
  EXPECT_THAT(values(whole.run.out, "train.loss_scale", 6), IsEmpty());
  EXPECT_THAT(state_of("whole"), Not(HasSubstr("loss_scale")));

  TrainOptions cut = options("cut", 3);
  cut.run.log.interval = 2;
  cut.execution.dtype = DType::kF16;
  trained(cut, *make_deferred_backend(std::make_shared<DeferredState>()));
  EXPECT_THAT(state_of("cut"), HasSubstr("\"clean_steps\": 3"));
  cut.run.max_steps = 6;
  cut.run.resume = true;
  trained(cut, *make_deferred_backend(std::make_shared<DeferredState>()));
  EXPECT_THAT(state_of("cut"), HasSubstr("\"clean_steps\": 6"));
  EXPECT_THAT(values(cut.run.out, "train.loss_scale", 6), ElementsAre(65536));
  EXPECT_THAT(values(cut.run.out, "train.repeated_steps", 6), ElementsAre(0));
  expect_equal(last_checkpoint("cut").model, last_checkpoint("whole").model);

  TrainOptions fixed = options("fixed", 1);
  fixed.execution.dtype = DType::kF16;
  fixed.execution.loss_scale = 8;
  trained(fixed, *reference);
  EXPECT_THAT(values(fixed.run.out, "train.loss_scale", 1), ElementsAre(8));
  EXPECT_THAT(read_text(fixed.run.out / "config.json"), HasSubstr("\"loss_scale\": 8"));
  fixed.run.resume = true;
  fixed.execution.loss_scale = 16;
  EXPECT_THAT(refusal_of(fixed, *reference), HasSubstr("loss_scale"));
}

TEST_F(Trainer, WarnsOfALossThatGrowsBeyondReason) {
  const auto reference = make_reference_backend();
  TrainOptions o = options("run", 2);
  o.recipe.rate.base = 1e4;
  o.recipe.rate.warmup_epochs = 0;
  try {
    trained(o, *reference);
  } catch (const comm::AgreedError&) {  // the loss may already have overflowed
  }
  EXPECT_THAT(notes_, Contains(HasSubstr("times the loss of guessing")));
}

TEST_F(Trainer, ItsLinesOfMetricsGoOnWhereItIsResumed) {
  const auto reference = make_reference_backend();
  TrainOptions whole = options("whole", 6);
  whole.run.log.interval = 2;
  trained(whole, *reference);
  TrainOptions cut = options("cut", 3);
  cut.run.log.interval = 2;
  trained(cut, *reference);
  // Pretend that the first part took an hour. The third step ends the run and has a line of its
  // own.
  std::string text = read_text(cut.run.out / "metrics.jsonl");
  const auto at = text.rfind("\"wall\":");
  text.replace(at, text.find(',', at) - at, "\"wall\":3600.0");
  write_file_durably(cut.run.out / "metrics.jsonl", text);
  cut.run.max_steps = 6;
  cut.run.resume = true;
  trained(cut, *reference);

  std::set<std::string> ids;
  double wall = 0;
  for (const nlohmann::json& line : lines(cut.run.out)) {
    ids.insert(line["run"].get<std::string>());
    EXPECT_GE(line["wall"].get<double>(), wall);
    wall = line["wall"];
  }
  EXPECT_GT(wall, 3600);
  EXPECT_EQ(ids.size(), 1U);
  EXPECT_NE(lines(whole.run.out).front()["run"].get<std::string>(), *ids.begin());
  EXPECT_EQ(values(whole.run.out, "train.top1", 6), values(cut.run.out, "train.top1", 6));
}

// A checkpoint may fall in the middle of an interval; what was counted before it still counts.
TEST_F(Trainer, TellsWithEachIntervalWhatItsRanksDid) {
  const auto reference = make_reference_backend();
  TrainOptions o = options("run", 5);
  o.run.log.interval = 2;
  std::vector<std::pair<std::int64_t, std::size_t>> intervals;  // step, ranks
  std::size_t others = 0;
  o.run.log.sink = [&](const LoggedLine& line) {
    if (line.ranks == nullptr) {
      ++others;
      return;
    }
    intervals.emplace_back(line.row.step, line.ranks->figures.size());
    const RankFigures& rank = line.ranks->figures.at(0);
    EXPECT_GT(rank.compute, 0);
    EXPECT_GT(rank.memory, 1e6);
    EXPECT_EQ(rank.sent + rank.received + rank.reduction, 0);  // a single rank
    EXPECT_EQ(line.row.values.at("ranks.compute.median"), rank.compute);
  };
  trained(o, *reference);
  EXPECT_THAT(intervals,
              testing::ElementsAre(std::pair(2, 1U), std::pair(4, 1U), std::pair(5, 1U)));
  EXPECT_GT(others, 0U);  // evaluations
  const auto ranks = nlohmann::json::parse(read_text(o.run.out / "ranks.json"));
  EXPECT_EQ(ranks["step"], 5);
  EXPECT_EQ(lines(o.run.out).front()["ranks.slowest"], 0);
}

TEST_F(Trainer, CountsTheHitsOfAnIntervalOverAResume) {
  const auto reference = make_reference_backend();
  TrainOptions whole = options("whole", 6);
  whole.run.log.interval = 4;
  trained(whole, *reference);
  TrainOptions cut = whole;
  cut.run.out = folder_ / "cut";
  int asked = 0;
  cut.run.stop = [&] { return ++asked == 2; };
  EXPECT_THROW(trained(cut, *reference), comm::AgreedError);
  cut.run.stop = {};
  cut.run.resume = true;
  trained(cut, *reference);
  const std::vector<double> hits = values(whole.run.out, "train.top1", 4);
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_DOUBLE_EQ(hits[0] * 24, std::round(hits[0] * 24));
  EXPECT_EQ(values(cut.run.out, "train.top1", 4), hits);
}

TEST_F(Trainer, EvaluatesAlikeOnAnyNumberOfLanesWhereItIsReproducible) {
  const auto reference = make_reference_backend();
  std::vector<std::vector<double>> losses;
  for (const int threads : {1, 3}) {
    TrainOptions o = options("run" + std::to_string(threads), 4);
    o.execution.reproducible = true;
    o.execution.threads.compute = threads;
    trained(o, *reference);
    losses.push_back(values(o.run.out, "test.loss", 4));
  }
  ASSERT_EQ(losses[0].size(), 1U);
  EXPECT_EQ(losses[0], losses[1]);
}

TEST_F(Trainer, EvaluationNamesDamagedCheckpointsItPassesOver) {
  const auto reference = make_reference_backend();
  TrainOptions o = options("run", 6);
  o.run.checkpoints.interval = 2;
  trained(o, *reference);
  EvalOptions eval;
  eval.run = o.run.out;
  eval.data.cache = kCache;
  notes_.clear();
  const auto comm = comm::make_single();
  const auto note = [&](const std::string& sentence) { notes_.push_back(sentence); };
  evaluate_run(eval, *reference, *comm, {}, note);
  EXPECT_THAT(notes_, IsEmpty());
  fs::resize_file(o.run.out / "checkpoints" / "step-6" / "model.safetensors", 99);
  evaluate_run(eval, *reference, *comm, {}, note);
  EXPECT_THAT(notes_, ElementsAre(AllOf(HasSubstr("skipped: "), HasSubstr("step-6")),
                                  AllOf(HasSubstr("using "), HasSubstr("step-4"))));
}

TEST_F(Trainer, RefusesWhatABackendCannotDoBeforeAnythingIsWritten) {
  TrainOptions o = options("run", 1);
  o.execution.dtype = DType::kTf32;
  EXPECT_EQ(refusal_of(o, *make_reference_backend()),
            "tf32 exists on graphics cards only; use f32");
  const auto deferred = make_deferred_backend(std::make_shared<DeferredState>());
  o = options("run", 1);
  o.execution.lanes.threads = 2;
  EXPECT_TRUE(refusal_of(o, *deferred).ends_with("leave out --lane-threads"));
  o = options("run", 1);
  o.execution.dtype = DType::kF16;
  EXPECT_EQ(refusal_of(o, *make_backend("onednn")),
            "the onednn backend cannot compute in f16: use bf16, or the cudnn backend");
  o = options("run", 1);
  o.execution.loss_scale = 8;
  EXPECT_EQ(refusal_of(o, *make_reference_backend()),
            "--loss-scale is for --dtype f16, but this run uses f32; leave out --loss-scale");
  EXPECT_FALSE(fs::exists(o.run.out));
}

TEST_F(Trainer, SyncBatchNormIsRefusedWhereItCannotBe) {
  TrainOptions o = options("run", 1);
  o.batch.sync_bn = true;
  const auto reference = make_reference_backend();
  EXPECT_EQ(refusal_of(o, *reference), "lenet has no batch norm; leave out --sync-bn");
  o.net.name = "resnet20";
  const auto deferred = make_deferred_backend(std::make_shared<DeferredState>());
  EXPECT_EQ(refusal_of(o, *deferred),
            "--sync-bn on a card needs one micro-batch per rank, but this rank has 3; set "
            "--micro-batch to --batch-size divided by the number of ranks");
  o.net.name = "resnet50";  // 2,048 lanes of half a gigabyte
  o.data.image_side_px = 128;
  o.batch.batch = 32'768;
  o.batch.micro_batch = 16;
  const auto onednn = make_backend("onednn");
  EXPECT_THAT(refusal_of(o, *onednn),
              AllOf(HasSubstr("--sync-bn computes all micro-batches of a rank at once, but memory "
                              "has room for only "),
                    HasSubstr(" of 2048; use more machines or a smaller --batch-size")));
  EXPECT_FALSE(fs::exists(o.run.out));
}

TEST_F(Trainer, SyncBatchNormOnACardIsThatOfTheCpu) {
  TrainOptions o = options("cpu", 3);
  o.net.name = "resnet20";
  o.batch = {.batch = 6, .micro_batch = 6, .sync_bn = true};
  trained(o, *make_reference_backend());
  o.run.out = folder_ / "card";
  trained(o, *make_deferred_backend(std::make_shared<DeferredState>()));
  expect_equal(last_checkpoint("card").model, last_checkpoint("cpu").model);
}

}  // namespace winnow::train::trainer_test
