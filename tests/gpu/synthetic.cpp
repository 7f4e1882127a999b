#include "tests/gpu/synthetic.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <thread>

#include "common/comm/schedule/schedule.h"
#include "common/error.h"
#include "common/rng.h"
#include "train/nets/nets.h"
#include "train/optim/optimizer.h"
#include "train/rewrites/rewrites.h"

namespace winnow::gpu {

using namespace winnow::train;

namespace {

constexpr int kChannels = 3;
constexpr std::uint64_t kSeed = 11;

Graph forward_graph(const Recipe& recipe) {
  NetOptions options;
  options.batch = recipe.micro_batch;
  options.height_px = options.width_px = recipe.side;
  options.channels = kChannels;
  options.classes = recipe.classes;
  options.mean.assign(kChannels, 0.5F);
  options.stddev.assign(kChannels, 0.25F);
  return fuse(find_net(recipe.net).make(options));
}

// Initial values of the right size from whole random numbers. The real ones hash names by a library
// that may be missing here.
std::vector<float> initial(const Value& value, std::uint64_t place) {
  std::vector<float> numbers(static_cast<std::size_t>(element_count(value.shape)));
  if (value.init == Init::kOnes) std::ranges::fill(numbers, 1.0F);
  if (value.init == Init::kOnes || value.init == Init::kZeros) return numbers;
  const double fan_out = static_cast<double>(numbers.size()) /
                         static_cast<double>(value.shape.size() == 4 ? value.shape[1] : 1);
  const double bound = value.init == Init::kKaimingFanOut
                           ? std::sqrt(6 / fan_out)
                           : 1 / std::sqrt(static_cast<double>(value.fan_in));
  CounterRng rng(kSeed, 2, place, RandomUse::kTest);
  for (float& v : numbers) v = static_cast<float>(bound * (2 * rng.uniform() - 1));
  return numbers;
}

}  // namespace

pipeline::Batch synthetic_batch(std::uint64_t first, std::size_t count, int side, int classes) {
  pipeline::Batch batch;
  batch.height_px = batch.width_px = side;
  batch.channels = kChannels;
  const auto pixels = static_cast<std::size_t>(side * side * kChannels);
  batch.pixels.resize(count * pixels);
  batch.label_offsets.push_back(0);
  for (std::size_t i = 0; i < count; ++i) {
    CounterRng rng(kSeed, 0, first + i, RandomUse::kTest);
    const auto label = static_cast<std::int32_t>(rng.below(static_cast<std::uint32_t>(classes)));
    // The pattern: blocks of 8 x 8 pixels, bright or dark by class.
    CounterRng pattern(kSeed, 1, static_cast<std::uint64_t>(label), RandomUse::kTest);
    const int blocks = (side + 7) / 8;
    std::vector<std::uint32_t> bright(static_cast<std::size_t>(blocks * blocks * kChannels));
    for (std::uint32_t& b : bright) b = pattern.below(2) * 64;
    for (int y = 0; y < side; ++y) {
      for (int x = 0; x < side; ++x) {
        for (int c = 0; c < kChannels; ++c) {
          const std::uint32_t base =
              bright[static_cast<std::size_t>(((y / 8) * blocks + x / 8) * kChannels + c)];
          batch.pixels[i * pixels + static_cast<std::size_t>((y * side + x) * kChannels + c)] =
              static_cast<std::uint8_t>(base + rng.below(192));
        }
      }
    }
    batch.ids.push_back(first + i);
    batch.weights.push_back(1);
    batch.labels.push_back(label);
    batch.label_weights.push_back(1);
    batch.label_offsets.push_back(static_cast<std::uint32_t>(i + 1));
    batch.groups.push_back(0);
  }
  return batch;
}

Training::Training(Backend& backend, const Recipe& recipe)
    : recipe_(recipe), comm_(comm::make_single()) {
  const Graph forward = forward_graph(recipe);
  const Graph graph = prune(differentiate(forward));
  std::uint64_t place = 0;
  model_ = make_model(forward, [&](const Value& value) { return initial(value, place++); });
  weights_ = place_weights(
      backend, model_, {&find_optimizer("sgd"), {{"momentum", {0.9}}, {"weight_decay", {5e-4}}}});
  programs_.push_back(backend.compile(graph, {.compute = recipe.dtype}));
  weights_->bind(*programs_.front());
  weights_->load();
  const auto micro_batches = static_cast<int>(recipe.batch / recipe.micro_batch);
  RunPlan plan;
  plan.numerics.sums = recipe.reproducible ? Sums::kWholeNumbers : Sums::kFloats;
  const auto threads = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, 16U));
  plan.layout = {.ranks = {{.lanes = {micro_batches}, .threads = threads}},
                 .schedule = "multicolor"};
  executor_ = std::make_unique<StepExecutor>(
      programs_, model_, *weights_, *comm_,
      plan_execution(plan, graph, {.rank = 0, .node_of = {0}}, !backend.is_on_cpu()));
  executor_->set_loss_scale(first_loss_scale(recipe.dtype, 0));
}

Training::Result Training::step(pipeline::Batch& batch) {
  const double total = static_cast<double>(batch.size());
  const Score score = executor_->run(batch, total, recipe_.lr, steps_++, false).score;
  return {score.loss / score.weight, score.correct / score.samples};
}

Recipe compared_recipe(DType dtype) { return {.dtype = dtype}; }

std::vector<double> losses(Backend& backend, const Recipe& recipe, std::int64_t steps) {
  Training training(backend, recipe);
  std::vector<double> found;
  for (std::int64_t s = 0; s < steps; ++s) {
    pipeline::Batch batch =
        synthetic_batch(static_cast<std::uint64_t>(s * recipe.batch),
                        static_cast<std::size_t>(recipe.batch), recipe.side, recipe.classes);
    found.push_back(training.step(batch).loss);
  }
  return found;
}

std::vector<LossRow> read_losses(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<LossRow> rows;
  std::string line;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line);
    LossRow row;
    if (!(fields >> row.f32 >> row.bf16)) {
      throw Error(path.string() + " has a line that is no pair of losses: " + line);
    }
    rows.push_back(row);
  }
  if (rows.size() != static_cast<std::size_t>(kComparedSteps)) {
    throw Error(path.string() + " has " + std::to_string(rows.size()) + " rows, expected " +
                std::to_string(kComparedSteps));
  }
  return rows;
}

std::vector<double> bf16_band(const std::vector<LossRow>& cpu) {
  constexpr double kFloor = 1e-3;
  std::vector<double> band;
  double widest = 0;
  for (const LossRow& row : cpu) {
    widest = std::max(widest, std::abs(row.bf16 - row.f32));
    band.push_back(3 * widest + kFloor);
  }
  return band;
}

}  // namespace winnow::gpu
