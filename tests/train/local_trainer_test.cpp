// Training with local updates, on the float64 reference.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "common/error.h"
#include "common/file.h"
#include "places.h"
#include "tests/common/temporary_folder.h"
#include "tests/train/learner.h"
#include "train/backend/reference/reference.h"
#include "train/checkpoint/checkpoint.h"
#include "train/model/initial_weights.h"
#include "train/nets/local_heads.h"
#include "train/run/evaluations/evaluate_run.h"
#include "train/run/train.h"
#include "train/step/stage_gradients.h"

namespace winnow::train::local_trainer_test {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;

// 24 grey training images of 16 x 16.
const fs::path kCache = fs::path(WINNOW_GOLDEN) / "v1" / "raw";

class LocalTrainer : public testing::Test {
 protected:
  TrainOptions options(const std::string& run, std::int64_t steps) const {
    TrainOptions o;
    o.net.name = "lenet";
    o.data.cache = kCache;
    o.recipe.epochs = 2;
    o.recipe.options = {{"clip_grad_norm", {0.5}}};
    o.recipe.local = {.updates = "greedy", .stages = "pool1,pool2"};
    o.batch = {.batch = 6, .micro_batch = 2};
    o.execution.backend = "reference";
    o.execution.all_reduce.bucket_bytes = 4096;
    o.run.out = folder_ / run;
    o.run.max_steps = steps;
    o.run.log.interval = 2;
    return o;
  }

  void train_it(const TrainOptions& o) {
    const auto comm = comm::make_single();
    notes_.clear();
    train(o, *comm, {}, [&](const std::string& sentence) { notes_.push_back(sentence); });
  }

  std::string refusal_of(const TrainOptions& o) {
    try {
      train_it(o);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "none";
  }

  Checkpoint checkpoint(const std::string& run) const {
    return load_checkpoint(*newest_checkpoint(folder_ / run / "checkpoints"));
  }

  // Data of tensors by name.
  static std::map<std::string, Bytes> tensors(const std::vector<NamedTensor>& tensors) {
    std::map<std::string, Bytes> found;
    for (const NamedTensor& t : tensors) {
      found[t.name] = Bytes(t.data.begin(), t.data.end());
    }
    return found;
  }

  std::vector<nlohmann::json> lines_with(const std::string& run, const std::string& name) const {
    std::vector<nlohmann::json> found;
    std::istringstream text(read_text(folder_ / run / "metrics.jsonl"));
    for (std::string line; std::getline(text, line);) {
      nlohmann::json row = nlohmann::json::parse(line);
      if (row.contains(name)) found.push_back(row[name]);
    }
    return found;
  }

  const TemporaryFolder folder_;
  std::vector<std::string> notes_;
};

TEST_F(LocalTrainer, GoesOnWithTheSameBitsAndFigures) {
  for (const char* updates : {"greedy", "overlapping"}) {
    SCOPED_TRACE(updates);
    const std::string whole = std::string("whole ") + updates;
    const std::string cut = std::string("cut ") + updates;
    TrainOptions o = options(whole, 6);
    o.recipe.local.updates = updates;
    train_it(o);
    o.run.out = folder_ / cut;
    o.run.max_steps = 3;
    train_it(o);
    o.run.max_steps = 6;
    o.run.resume = true;
    train_it(o);
    EXPECT_EQ(tensors(checkpoint(cut).model), tensors(checkpoint(whole).model));
    EXPECT_EQ(tensors(checkpoint(cut).optimizer), tensors(checkpoint(whole).optimizer));
    for (const char* name : {"train.local.1.loss", "train.local.1.top1", "train.local.2.loss"}) {
      EXPECT_EQ(lines_with(cut, name).back(), lines_with(whole, name).back()) << name;
      EXPECT_EQ(lines_with(whole, name).size(), 3U) << name;
    }
    EXPECT_NE(lines_with(whole, "train.local.1.loss"), lines_with(whole, "train.loss"));
  }
}

// If later stages and their heads are frozen, the first stage learns the same, even though the
// norms of gradients are clipped.
TEST_F(LocalTrainer, AStageLearnsWhateverLaterOnesDo) {
  train_it(options("all", 4));
  TrainOptions o = options("first", 4);
  for (const char* pattern : {"conv2.*", "fc1.*", "fc2.*", "local.2.*"}) {
    o.start.lr_scales.push_back({pattern, 0});
  }
  train_it(o);
  const auto all = tensors(checkpoint("all").model);
  const auto first = tensors(checkpoint("first").model);
  int same = 0;
  for (const auto& [name, data] : all) {
    const bool is_of_first = name.starts_with("conv1.") || name.starts_with("local.1.");
    if (!is_of_first) continue;
    EXPECT_EQ(first.at(name), data) << name;
    ++same;
  }
  EXPECT_GT(same, 20);
  EXPECT_NE(first.at("fc1.weight"), all.at("fc1.weight"));
}

TEST_F(LocalTrainer, TellsOfItsHeadsAndKeepsThemInTheConfig) {
  train_it(options("run", 1));
  EXPECT_THAT(notes_, Contains(HasSubstr("3 stages that end at pool1, pool2 and the loss; heads "
                                         "mlp-sr of ")));
  const auto config = nlohmann::json::parse(read_text(folder_ / "run" / "config.json"));
  EXPECT_EQ(config["net"]["local"]["ends"], (std::vector<std::string>{"pool1", "pool2"}));
  EXPECT_EQ(config["net"]["local"]["head"], "mlp-sr");
  TrainOptions other = options("run", 2);
  other.run.resume = true;
  other.recipe.local.head = "linear";
  EXPECT_THAT(refusal_of(other), HasSubstr("local"));
}

TEST_F(LocalTrainer, IsEvaluatedAtAnyHead) {
  train_it(options("run", 4));
  const auto evaluated = [&](int head) {
    EvalOptions eval;
    eval.run = folder_ / "run";
    eval.data.cache = kCache;
    eval.checkpoint.head = head;
    const auto comm = comm::make_single();
    return evaluate_run(eval, *make_reference_backend(), *comm, {}, [](const std::string&) {})
        .evaluation;
  };
  std::set<double> losses;
  for (const int head : {0, 1, 2}) losses.insert(evaluated(head).loss);
  EXPECT_EQ(losses.size(), 3U);
  EXPECT_EQ(evaluated(0).top1, lines_with("run", "test.top1").back());
  EXPECT_THAT([&] { evaluated(3); },
              testing::ThrowsMessage<UsageError>(HasSubstr("its heads are 1 to 2")));
}

// A net is loaded with the layers of another; its heads begin anew, as projectors do.
TEST_F(LocalTrainer, HeadsAreNotBegunWith) {
  train_it(options("before", 2));
  const fs::path file =
      *newest_checkpoint(folder_ / "before" / "checkpoints") / "model.safetensors";
  const Graph plain = fuse(find_net("lenet").make(small_images(2)));
  const Graph local = fuse(
      with_local_heads(plain, {plain.find("pool1")}, find_local_head("linear"), small_images(2)));
  for (const Graph& graph : {plain, local}) {
    Model model = make_model(graph, 5);
    const Model begun = model;
    const InitialWeights found = load_initial_weights(model, graph, file);
    EXPECT_EQ(found.ignored, std::vector<std::string>{});
    for (std::size_t t = 0; t < model.tensors.size(); ++t) {
      const std::string& name = model.tensors[t].about.name;
      if (name.starts_with(kLocalPrefix)) {
        EXPECT_EQ(model.tensors[t].data, begun.tensors[t].data) << name;
      }
      if (name == "conv1.weight") {
        EXPECT_NE(model.tensors[t].data, begun.tensors[t].data);
      }
    }
  }
}

// Each stage has its own loss scale. Scaling gradients by powers of two changes no bit.
TEST(LocalSteps, StagesHaveLossScalesOfTheirOwn) {
  const NetOptions net = small_images(2);
  const Graph plain = fuse(find_net("lenet").make(net));
  const Graph forward =
      fuse(with_local_heads(plain, {plain.find("pool1")}, find_local_head("linear"), net));
  const Graph graph = prune(order_by_stage(differentiate(forward, local_losses(forward, 0))));
  const auto learnt = [&](std::vector<LossScale> scales) {
    Learner learner(graph, make_model(graph, 7), cut_into({2}, 4096), reference, {.norm = 0.1});
    if (!scales.empty()) learner.executor->set_loss_scales(std::move(scales));
    pipeline::Batch batch = random_batch(graph, 4);
    StepResult last;
    for (int step = 0; step < 3; ++step) last = learner.step(batch);
    EXPECT_EQ(last.heads.size(), 1U);
    EXPECT_GT(last.heads.front().loss, 0);
    learner.weights->store();
    std::vector<std::vector<float>> tensors;
    for (const Model::Tensor& t : learner.model.tensors) tensors.push_back(t.data);
    return tensors;
  };
  const auto want = learnt({});
  EXPECT_EQ(learnt({{.factor = 1024}, {.factor = 4}}), want);
  EXPECT_EQ(learnt({{.factor = 8}}), want);
}

// Sums, some of which are not finite.
class SumsWith final : public GradientSum {
 public:
  SumsWith(std::size_t elements, std::set<std::size_t> not_finite)
      : values_(elements), not_finite_(std::move(not_finite)) {}
  std::span<float> written(int) noexcept override { return values_; }
  void begin() noexcept override {}
  void add(int, std::size_t, bool, Part) override {}
  void add_lanes(std::size_t, Part) override {}
  void reduce(std::size_t) override {}
  Outcome finish() override { return Outcome::kNotFinite; }
  std::span<const float> read(Part) noexcept override { return values_; }
  std::span<float> values() noexcept override { return values_; }
  bool is_finite(std::size_t tensor) const override { return !not_finite_.contains(tensor); }
  std::map<std::string, std::int32_t> state() const override { return {}; }
  void restore(const std::map<std::string, std::int32_t>&) override {}

 private:
  std::vector<float> values_;
  const std::set<std::size_t> not_finite_;
};

TEST(LocalSteps, AnOverflowLowersTheScaleOfItsStageAlone) {
  const NetOptions net = small_images(2);
  const Graph plain = fuse(find_net("lenet").make(net));
  const Graph forward =
      fuse(with_local_heads(plain, {plain.find("pool1")}, find_local_head("linear"), net));
  const Graph graph = prune(order_by_stage(differentiate(forward, local_losses(forward, 0))));
  const GradientLayout layout = layout_gradients(graph, 4096, tail_count(graph));
  EXPECT_EQ(tail_names(graph).size(), layout.elements - layout.tail_offset);
  const auto tensor_of = [&](const char* name) {
    for (std::size_t t = 0; t < layout.tensors.size(); ++t) {
      if (graph.value(graph.outputs[layout.tensors[t].output].of).name == name) return t;
    }
    throw Error(name);
  };
  const std::size_t tail = layout.tensors.size();
  const LossScale half{.factor = 512, .adapts = true};
  const LossScale whole{.factor = 1024, .adapts = true};
  const auto lowered = [&](std::set<std::size_t> not_finite) {
    StageGradients gradients(graph, layout);
    gradients.set_scales({whole, whole});
    const bool any = gradients.lower(SumsWith(layout.elements, std::move(not_finite)));
    return std::pair(any, gradients.scales());
  };
  EXPECT_EQ(lowered({tensor_of("conv1.weight")}), std::pair(true, std::vector{half, whole}));
  EXPECT_EQ(lowered({tensor_of("local.1.fc.bias")}), std::pair(true, std::vector{half, whole}));
  EXPECT_EQ(lowered({tensor_of("fc2.weight")}), std::pair(true, std::vector{whole, half}));
  EXPECT_EQ(lowered({tensor_of("conv1.bias"), tensor_of("conv2.bias")}),
            std::pair(true, std::vector{half, half}));
  for (const std::size_t loss : {tail + kLoss, tail + kTailCount + kHeadLoss}) {
    EXPECT_FALSE(lowered({tensor_of("conv1.weight"), loss}).first);
  }
}

}  // namespace winnow::train::local_trainer_test
