#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/comm/communicator.h"
#include "pipeline/load/batch.h"
#include "train/backend/backend.h"
#include "train/model/model.h"
#include "train/step/executor.h"

// Training without a cache, on distinguishable images made from random whole numbers, the same on
// every machine.
namespace winnow::gpu {

// Samples [first, first + count): one pattern for each of `classes` classes, with noise.
pipeline::Batch synthetic_batch(std::uint64_t first, std::size_t count, int side, int classes);

struct Recipe {
  std::string net = "resnet20";
  int side = 32;
  int classes = 10;
  std::int64_t batch = 128;
  std::int64_t micro_batch = 64;
  train::DType dtype = train::DType::kF32;
  bool reproducible = false;
  double lr = 0.001;
};

// Trains a net on one rank, as `winnow train` does: lanes, buckets, sums, weights where the backend
// wants them.
class Training {
 public:
  Training(train::Backend& backend, const Recipe& recipe);

  struct Result {
    double loss = 0;      // mean, before the update
    double accuracy = 0;  // mean, before the update
  };
  Result step(pipeline::Batch& batch);

  train::Program& program() { return *programs_.front(); }

 private:
  Recipe recipe_;
  train::Model model_;
  std::unique_ptr<comm::Communicator> comm_;
  std::unique_ptr<train::WeightStore> weights_;
  std::vector<std::unique_ptr<train::Program>> programs_;
  std::unique_ptr<train::StepExecutor> executor_;
  std::int64_t steps_ = 0;
};

// Losses of the first steps on a CPU, as a reference for cards. Written by
// tests/gpu/cpu_losses.cpp. The learning rate is low enough that last bits do not run away: at 0.02
// the losses of two instruction sets of one CPU are 0.05 apart after 50 steps, because a last bit
// opens or closes a ReLU.
struct LossRow {
  double f32 = 0;
  double bf16 = 0;
};
inline constexpr std::int64_t kComparedSteps = 50;
Recipe compared_recipe(train::DType dtype);
std::vector<double> losses(train::Backend& backend, const Recipe& recipe, std::int64_t steps);
std::vector<LossRow> read_losses(const std::filesystem::path& path);  // throws Error

// Allowed distance of bf16 losses on a card from those of the CPU, for each step: three times the
// largest difference so far between bf16 and f32 on the CPU, which is the effect of rounding.
std::vector<double> bf16_band(const std::vector<LossRow>& cpu);

}  // namespace winnow::gpu
