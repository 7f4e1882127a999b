#include "train/backend/cudnn/device_errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "common/error.h"

namespace winnow::train::cudnn::device_errors_test {

struct FakeMachine final : Machine {
  int driver() override { return driver_version; }
  int runtime() override { return 13000; }
  std::size_t cudnn_found() override { return cudnn; }
  std::size_t cudnn_built_with() override { return 91900; }
  CardCount count_cards() override { return cards; }
  Card card(int index) override {
    if (cards.answer != CudaAnswer::kOk || index >= cards.count) throw Error("not to be asked");
    Card card;
    card.name = "NVIDIA Card " + std::to_string(index);
    card.capability = capability;
    return card;
  }

  int driver_version = 13000;
  std::size_t cudnn = 91900;
  CardCount cards{.count = 2};
  int capability = 90;
};

std::string refusal(FakeMachine machine, int index = 0) {
  try {
    find_card(machine, index);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(FindCard, TakesTheOneAskedFor) {
  FakeMachine machine;
  EXPECT_EQ(find_card(machine, 1).card.name, "NVIDIA Card 1");
  machine.capability = 80;
  EXPECT_EQ(find_card(machine, 0).card.capability, 80);
}

TEST(FindCard, WithoutADriver) {
  FakeMachine machine;
  machine.driver_version = 0;
  machine.cards = {.answer = CudaAnswer::kInsufficientDriver};
  EXPECT_EQ(refusal(machine),
            "this machine has no NVIDIA driver: install one that runs CUDA 13.0, or use --backend "
            "onednn");
}

TEST(FindCard, TheDriverIsTooOld) {
  FakeMachine machine;
  machine.driver_version = 12020;
  machine.cards = {.answer = CudaAnswer::kInsufficientDriver};
  EXPECT_EQ(refusal(machine),
            "the NVIDIA driver supports CUDA up to 12.2, but this winnow was built with CUDA 13.0: "
            "install a newer "
            "driver, or use --backend onednn");
}

TEST(FindCard, AnOlderDriverThatRunsThisCudaIsFine) {
  FakeMachine machine;
  machine.driver_version = 12090;
  EXPECT_EQ(refusal(machine), "none");
}

TEST(FindCard, CudaDoesNotStart) {
  FakeMachine machine;
  machine.cards = {.answer = CudaAnswer::kOther, .reason = "system not yet initialized"};
  EXPECT_EQ(refusal(machine),
            "CUDA did not start (system not yet initialized): check that nvidia-smi lists the "
            "card, or use --backend onednn");
}

TEST(FindCard, NoCard) {
  const std::string none =
      "this process sees no NVIDIA card: check nvidia-smi and CUDA_VISIBLE_DEVICES, or use "
      "--backend onednn";
  FakeMachine machine;
  machine.cards = {.answer = CudaAnswer::kNoCard};
  EXPECT_EQ(refusal(machine), none);
  machine.cards = {.count = 0};
  EXPECT_EQ(refusal(machine), none);
}

// Either there are more ranks than cards, or the launcher shows each rank only its own card.
TEST(FindCard, RanksTakeTurns) {
  FakeMachine machine;
  EXPECT_EQ(find_card(machine, 2).index, 0);
  EXPECT_EQ(find_card(machine, 5).index, 1);
  EXPECT_EQ(find_card(machine, 5).card.name, "NVIDIA Card 1");
  machine.cards = {.count = 1};
  EXPECT_EQ(find_card(machine, 3).index, 0);
}

TEST(FindCard, TheCardIsTooOld) {
  FakeMachine machine;
  machine.capability = 75;
  EXPECT_EQ(refusal(machine, 1),
            "card 1, NVIDIA Card 1, has compute capability 7.5, too old for backend cudnn, which "
            "needs 8.0: choose another, or use --backend onednn");
}

TEST(FindCard, CudnnMustBeOfTheSameMajorVersionAndNotOlder) {
  FakeMachine machine;
  for (const std::size_t fine : {91900, 91901, 92000}) {
    machine.cudnn = fine;
    EXPECT_EQ(refusal(machine), "none") << fine;
  }
  machine.cudnn = 90100;
  EXPECT_EQ(refusal(machine),
            "found cuDNN 9.1.0, but this winnow was built with 9.19.0: install that or a newer "
            "9.x, or build winnow again");
  machine.cudnn = 8907;
  EXPECT_THAT(refusal(machine), testing::StartsWith("found cuDNN 8.9.7, but"));
  machine.cudnn = 100000;
  EXPECT_THAT(refusal(machine), testing::StartsWith("found cuDNN 10.0.0, but"));
}

TEST(DeviceErrors, OutOfMemoryTellsTheNumbers) {
  EXPECT_EQ(
      out_of_memory("NVIDIA H200", {.asked = (5 << 20) + 1, .free = 1 << 20, .total = 8 << 20}),
      "out of memory on NVIDIA H200: 6 MiB asked for, 1 MiB free of 8 MiB; use a smaller "
      "--micro-batch or --dtype bf16, or stop other programs on the card");
  EXPECT_EQ(out_of_host_memory(std::size_t{3} << 20),
            "out of page-locked host memory: 3 MiB asked for; use a smaller --micro-batch, or give "
            "this process more memory");
}

TEST(DeviceErrors, WhatALibraryWritesBecomesOneLine) {
  EXPECT_EQ(one_line(""), "");
  EXPECT_EQ(one_line("\nWarning: a\n\nWarning: b\n"), "Warning: a; Warning: b");
  EXPECT_EQ(one_line(std::string(1000, 'x')).size(), 300U);
}

TEST(DeviceErrors, FailedCallsSayWhatWasBeingDone) {
  EXPECT_EQ(call_failed("make a stream", "invalid device ordinal (cudaErrorInvalidDevice)"),
            "cannot make a stream: invalid device ordinal (cudaErrorInvalidDevice)");
  EXPECT_THAT(earlier_work_failed("copy", "illegal address"),
              testing::AllOf(testing::HasSubstr("reported an error of earlier work"),
                             testing::HasSubstr("illegal address"),
                             testing::HasSubstr("resume from the last checkpoint")));
}

}  // namespace winnow::train::cudnn::device_errors_test
