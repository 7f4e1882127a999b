#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <iostream>
#include <memory>
#include <set>
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

std::uint64_t bytes_of_values(const Graph& graph, const std::set<ValueId>& ids) {
  std::uint64_t bytes = 0;
  for (const ValueId id : ids) {
    const Value& value = graph.value(id);
    bytes += static_cast<std::uint64_t>(element_count(value.shape)) *
             (value.storage == Storage::kU8 ? 1 : 4);
  }
  return bytes;
}

Traffic traffic_of(const HostDevice& device, const std::function<void()>& work) {
  const Traffic before = device.traffic();
  work();
  const Traffic after = device.traffic();
  return {after.to_device - before.to_device, after.to_host - before.to_host};
}

// Each micro-batch sends its pixels and targets and gets gradients, statistics and losses back; the
// sums go to the card again. It is what a step with its sums on the card is measured against.
TEST(TrainingOnACard, TheDeviceCountsTheBytesThatCrossInAStep) {
  for (const std::int64_t micro_batch : {16, 8}) {
    const auto device = std::make_shared<HostDevice>();
    const auto card = make_cudnn_backend(device);
    gpu::Recipe recipe = small(DType::kBF16, false);
    recipe.micro_batch = micro_batch;
    gpu::Training training(*card, recipe);
    pipeline::Batch batch = gpu::synthetic_batch(0, 16, recipe.side, recipe.classes);
    training.step(batch);
    const Traffic step = traffic_of(*device, [&] { training.step(batch); });

    const Graph& graph = training.program().graph();
    std::set<ValueId> outputs, gradients;
    for (const Output& output : graph.outputs) {
      outputs.insert(output.value);
      if (output.kind == OutputKind::kGradient) gradients.insert(output.value);
    }
    const auto of_inputs = graph.of_kind(ValueKind::kInput);
    const std::uint64_t sent = bytes_of_values(graph, {of_inputs.begin(), of_inputs.end()});
    const auto micro_batches = static_cast<std::uint64_t>(16 / micro_batch);
    EXPECT_EQ(step.to_host, micro_batches * bytes_of_values(graph, outputs));
    EXPECT_GE(step.to_device, micro_batches * sent + bytes_of_values(graph, gradients));
    EXPECT_LE(step.to_device, micro_batches * sent + bytes_of_values(graph, outputs) + 256);
    std::cout << "ResNet-20, " << micro_batches << " micro-batches: " << step.to_host
              << " bytes to the host in a step, " << step.to_device << " to the card\n";
  }
}

// A card that breaks at any moment of a step is an error, neither a hang nor a crash, and what was
// taken is given back.
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
