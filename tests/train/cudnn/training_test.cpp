#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "common/error.h"
#include "tests/gpu/synthetic.h"
#include "tests/train/cudnn/host_device.h"
#include "tests/train/sync_batch_norm.h"
#include "train/backend/backend.h"
#include "train/backend/cudnn/cudnn.h"

// The trainer's steps with the backend for cards, on a card made of host memory: feed, lanes,
// buckets, sums and weights, as in `winnow train --backend cudnn`.
namespace winnow::train::cudnn::training_test {

gpu::Recipe small(DType dtype, bool reproducible) {
  return {.side = 8,
          .classes = 4,
          .batch = 16,
          .micro_batch = 8,
          .dtype = dtype,
          .reproducible = reproducible,
          .lr = 0.03};
}

void expect_following(const std::vector<double>& got, const std::vector<double>& want,
                      double limit) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_LE(std::abs(got[i] - want[i]) / want[i], limit) << "step " << i;
  }
}

TEST(TrainingOnACard, FollowsTheCpu) {
  constexpr std::int64_t kSteps = 6;
  const auto cpu = make_backend("onednn");
  const auto card = make_cudnn_backend(std::make_shared<HostDevice>());
  for (const bool reproducible : {false, true}) {
    gpu::Recipe recipe = small(DType::kF32, reproducible);
    const auto want = gpu::losses(*cpu, recipe, kSteps);
    expect_following(gpu::losses(*card, recipe, kSteps), want, 1e-4);
    recipe.lr = 0;  // the losses with constant weights
    EXPECT_GT(std::abs(gpu::losses(*cpu, recipe, kSteps).back() - want.back()), 2e-3);
  }
}

TEST(TrainingOnACard, RepeatsToTheBit) {
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    const auto card = make_cudnn_backend(std::make_shared<HostDevice>());
    const gpu::Recipe recipe = small(dtype, true);
    EXPECT_EQ(gpu::losses(*card, recipe, 2), gpu::losses(*card, recipe, 2));
  }
}

// Between two runs of a step, shared numbers go to the host and come back.
TEST(TrainingOnACard, GoesOnWithSharedNumbersAsTheyAreLeft) {
  expect_reads_shared_outputs(*make_cudnn_backend(std::make_shared<HostDevice>()));
}

// In bf16, losses stay near those of f32 from the same weights.
TEST(TrainingOnACard, InBf16StaysNearF32) {
  const auto card = make_cudnn_backend(std::make_shared<HostDevice>());
  gpu::Recipe bf16 = small(DType::kBF16, false);
  gpu::Recipe f32 = small(DType::kF32, false);
  bf16.lr = f32.lr = 0.005;  // a rate at which rounding errors do not grow
  expect_following(gpu::losses(*card, bf16, 4), gpu::losses(*card, f32, 4), 1e-2);
}

// Everything is allocated before the second step, and freed at the end.
TEST(TrainingOnACard, AllocatesOnce) {
  const auto device = std::make_shared<HostDevice>();
  {
    const auto card = make_cudnn_backend(device);
    const gpu::Recipe recipe = small(DType::kBF16, false);
    gpu::Training training(*card, recipe);
    pipeline::Batch batch = gpu::synthetic_batch(0, 16, recipe.side, recipe.classes);
    training.step(batch);
    const std::size_t allocations = device->use().allocations;
    training.step(batch);
    training.step(batch);
    EXPECT_EQ(device->use().allocations, allocations);
    EXPECT_EQ(device->use().bytes, device->use().most_bytes);
  }
  EXPECT_EQ(device->use().bytes, 0U);
}

// A card that fails at any moment of a step gives an error, not a hang or a crash. All memory is
// freed.
TEST(TrainingOnACard, ABrokenCardIsAnError) {
  const auto device = std::make_shared<HostDevice>();
  const gpu::Recipe recipe = small(DType::kF32, false);
  {
    const auto card = make_cudnn_backend(device);
    gpu::Training training(*card, recipe);
    pipeline::Batch batch = gpu::synthetic_batch(0, 16, recipe.side, recipe.classes);
    training.step(batch);
  }
  const std::size_t whole = device->health().done;
  ASSERT_GT(whole, 500U);
  for (std::size_t share = 0; share < 8; ++share) {
    device->health() = {.works_until = whole * share / 8, .done = 0};
    const auto card = make_cudnn_backend(device);
    EXPECT_THAT(
        [&] {
          gpu::Training training(*card, recipe);
          pipeline::Batch batch = gpu::synthetic_batch(0, 16, recipe.side, recipe.classes);
          training.step(batch);
          training.step(batch);  // waits for the updates of the first step
        },
        testing::ThrowsMessage<Error>(testing::HasSubstr("the card failed")));
    EXPECT_EQ(device->use().bytes, 0U);
  }
}

}  // namespace winnow::train::cudnn::training_test
