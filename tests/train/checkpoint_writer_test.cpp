#include "train/checkpoint/checkpoint_writer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <future>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "tests/common/temporary_folder.h"

namespace winnow::train::checkpoint_writer_test {

namespace fs = std::filesystem;

class CheckpointWriterTest : public testing::Test {
 protected:
  static CheckpointJob job_of(std::int64_t step) {
    return {.checkpoint = {.step = step,
                           .model = {make_f32("fc.bias", {2}, std::vector<float>{1, 2})},
                           .optimizer = {},
                           .state = "{}"},
            .keep = 9};
  }

  // Whether the checkpoint of this step is complete.
  bool is_there(std::int64_t step) const {
    return fs::exists(folder_ / ("step-" + std::to_string(step)) / "manifest.json");
  }

  std::string latest() const { return fs::read_symlink(folder_ / "latest").string(); }

  TemporaryFolder folder_;
};

TEST_F(CheckpointWriterTest, WritesWhatSaveCheckpointWrites) {
  save_checkpoint(folder_ / "direct", job_of(10).checkpoint, 1);
  CheckpointWriter writer(folder_ / "beside");
  EXPECT_EQ(writer.cpu_seconds(), 0);
  writer.write(job_of(10));
  writer.wait();
  EXPECT_GT(writer.cpu_seconds(), 0);
  for (const std::string name :
       {"model.safetensors", "optimizer.safetensors", "state.json", "manifest.json"}) {
    const fs::path file = fs::path("step-10") / name;
    EXPECT_EQ(read_text(folder_ / "beside" / file), read_text(folder_ / "direct" / file)) << name;
  }
  EXPECT_EQ(fs::read_symlink(folder_ / "beside" / "latest"), "step-10");
}

// The test would hang if write() waited.
TEST_F(CheckpointWriterTest, ReturnsWhileItWritesAndWaitsWhenAsked) {
  std::promise<void> go_on;
  CheckpointWriter writer(folder_.path());
  CheckpointJob job = job_of(10);
  job.before = [&] { go_on.get_future().wait(); };
  writer.write(std::move(job));
  EXPECT_FALSE(is_there(10));
  EXPECT_FALSE(writer.failed());
  go_on.set_value();
  writer.wait();
  EXPECT_EQ(latest(), "step-10");
  writer.wait();  // nothing left to wait for
}

TEST_F(CheckpointWriterTest, OneIsUnderWayAndTheyKeepTheirOrder) {
  std::promise<void> go_on;
  std::atomic<int> under_way{0};
  std::vector<std::string> done;  // written by the writer's threads, one at a time
  CheckpointWriter writer(folder_.path());
  const auto next = [&](std::int64_t step) {
    CheckpointJob job = job_of(step);
    job.before = [&, step] {
      EXPECT_EQ(++under_way, 1);
      if (step == 10) go_on.get_future().wait();
      EXPECT_EQ(is_there(step - 10), step > 10);
      done.push_back("before " + std::to_string(step));
    };
    job.after = [&, step] {
      EXPECT_EQ(latest(), "step-" + std::to_string(step));
      done.push_back("after " + std::to_string(step));
      --under_way;
    };
    writer.write(std::move(job));
  };
  next(10);
  std::thread lets_go([&] { go_on.set_value(); });
  next(20);
  next(30);
  writer.wait();
  lets_go.join();
  EXPECT_EQ(done, (std::vector<std::string>{"before 10", "after 10", "before 20", "after 20",
                                            "before 30", "after 30"}));
  EXPECT_TRUE(is_there(10) && is_there(20) && is_there(30));
}

TEST_F(CheckpointWriterTest, KeepsTheNewestAndTheBest) {
  CheckpointWriter writer(folder_.path());
  for (const std::int64_t step : {10, 20, 30}) {
    CheckpointJob job = job_of(step);
    job.keep = 1;
    job.is_best = step == 10;
    writer.write(std::move(job));
  }
  writer.wait();
  EXPECT_EQ(fs::read_symlink(folder_ / "best"), "step-10");
  EXPECT_TRUE(is_there(10) && is_there(30));
  EXPECT_FALSE(is_there(20));
}

// A file stands where the folder of checkpoints would have to be.
TEST_F(CheckpointWriterTest, AnErrorIsToldOnceAndTheNextIsNotBegun) {
  const fs::path folder = folder_ / "checkpoints";
  write_file_durably(folder, std::string("no folder"));
  CheckpointWriter writer(folder);
  bool told = false;
  CheckpointJob bad = job_of(10);
  bad.after = [&] { told = true; };
  writer.write(std::move(bad));
  while (!writer.failed()) std::this_thread::yield();
  CheckpointJob next = job_of(20);
  bool begun = false;
  next.before = [&] { begun = true; };
  EXPECT_THROW(writer.write(std::move(next)), SystemError);
  EXPECT_FALSE(writer.failed());
  EXPECT_FALSE(told);
  fs::remove(folder);
  writer.wait();
  EXPECT_FALSE(begun);
  writer.write(job_of(30));
  writer.wait();
  EXPECT_EQ(fs::read_symlink(folder / "latest"), "step-30");
}

TEST_F(CheckpointWriterTest, WhatFailsBeforehandLeavesTheCheckpointOut) {
  CheckpointWriter writer(folder_.path());
  CheckpointJob job = job_of(10);
  job.before = [] { throw UsageError("census.json is a folder"); };
  writer.write(std::move(job));
  EXPECT_THROW(writer.wait(), UsageError);
  EXPECT_FALSE(fs::exists(folder_ / "step-10"));
  EXPECT_FALSE(fs::exists(folder_ / "step-10.part"));
  EXPECT_NO_THROW(writer.wait());
}

TEST_F(CheckpointWriterTest, EndsWhenWhatIsUnderWayIsWritten) {
  std::promise<void> go_on;
  std::thread lets_go;
  {
    CheckpointWriter writer(folder_.path());
    CheckpointJob job = job_of(10);
    job.before = [&] { go_on.get_future().wait(); };
    writer.write(std::move(job));
    lets_go = std::thread([&] { go_on.set_value(); });
  }
  EXPECT_TRUE(is_there(10));
  lets_go.join();
  std::optional<CheckpointWriter> failing(std::in_place, folder_.path());
  CheckpointJob bad = job_of(20);
  bad.before = [] { throw std::runtime_error("lost"); };
  failing->write(std::move(bad));
  EXPECT_NO_THROW(failing.reset());
  EXPECT_FALSE(is_there(20));
}

}  // namespace winnow::train::checkpoint_writer_test
