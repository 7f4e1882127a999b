#include "train/checkpoint/checkpoint.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <set>

#include "common/error.h"
#include "common/file.h"
#include "tests/common/temporary_folder.h"

namespace winnow::train::checkpoint_test {

namespace fs = std::filesystem;

class CheckpointTest : public testing::Test {
 protected:
  const TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

std::vector<NamedTensor> some_tensors() {
  const std::vector<float> weights{1.5F, -2, 0.25F, 3e-30F, 5, 6};
  const std::vector<float> bias{0.5F};
  return {make_f32("conv1.weight", {2, 3, 1, 1}, weights), make_f32("fc.bias", {1}, bias),
          make_i64("bn1.num_batches_tracked", 123456789012)};
}

Checkpoint some_checkpoint(std::int64_t step) {
  return {step,
          some_tensors(),
          {make_f32("momentum.fc.bias", {1}, std::vector<float>{7})},
          R"({"step": 1})"};
}

void expect_equal(const std::vector<NamedTensor>& a, const std::vector<NamedTensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].name, b[i].name);
    EXPECT_EQ(a[i].dtype, b[i].dtype);
    EXPECT_EQ(a[i].shape, b[i].shape);
    EXPECT_EQ(a[i].data, b[i].data);
  }
}

TEST(Safetensors, RoundTrip) {
  const Bytes bytes = to_safetensors(some_tensors(), {{"format", "pt"}});
  EXPECT_EQ(bytes.size() % 4, 0U);
  expect_equal(parse_safetensors(bytes, "it"), some_tensors());
  expect_equal(parse_safetensors(to_safetensors({}, {}), "it"), {});
}

TEST(Safetensors, ReadsAFileWrittenDownFromTheFormat) {
  std::string header = R"({"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]},)"
                       R"("a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})";
  ByteWriter file;
  file.put(static_cast<std::uint64_t>(header.size()));
  file.put_text(header);
  file.put_text("abcd");
  file.put(1.0F);
  file.put(-2.0F);
  const auto tensors = parse_safetensors(std::move(file).take(), "it");
  ASSERT_EQ(tensors.size(), 2U);
  EXPECT_EQ(tensors[0].name, "a");
  EXPECT_EQ(f32_values(tensors[1]), (std::vector<float>{1, -2}));
  EXPECT_THROW(f32_values(tensors[0]), FormatError);
}

TEST(Safetensors, EveryCutIsRefused) {
  const Bytes bytes = to_safetensors(some_tensors(), {});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(parse_safetensors(BytesView(bytes).first(size), "it"), FormatError) << size;
  }
}

// A flipped data byte cannot be seen here (the manifest's digest detects it). A flipped byte of the
// header must give FormatError or a well-formed table, never a crash.
TEST(Safetensors, FlippedBytesNeverCrash) {
  const Bytes bytes = to_safetensors(some_tensors(), {});
  int refused = 0;
  for (std::size_t i = 0; i < bytes.size() * 8; ++i) {
    Bytes bad = bytes;
    bad[i / 8] ^= static_cast<std::byte>(1 << (i % 8));
    try {
      parse_safetensors(bad, "it");
    } catch (const FormatError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 500);
}

TEST_F(CheckpointTest, TheBestStaysUntilAnotherIsBetter) {
  save_checkpoint(folder_, some_checkpoint(10), 1, /*is_best=*/true);
  for (const std::int64_t step : {20, 30}) save_checkpoint(folder_, some_checkpoint(step), 1);
  EXPECT_EQ(fs::read_symlink(folder_ / "best"), "step-10");
  EXPECT_EQ(load_checkpoint(folder_ / "best").step, 10);
  EXPECT_FALSE(fs::exists(folder_ / "step-20"));
  EXPECT_EQ(newest_checkpoint(folder_), folder_ / "step-30");
  save_checkpoint(folder_, some_checkpoint(40), 1, /*is_best=*/true);
  EXPECT_EQ(fs::read_symlink(folder_ / "best"), "step-40");
  EXPECT_FALSE(fs::exists(folder_ / "step-10"));
  EXPECT_FALSE(fs::exists(folder_ / "step-30"));
}

TEST_F(CheckpointTest, TheBestIsMarkedWhereItIs) {
  save_checkpoint(folder_, some_checkpoint(10), 2);
  EXPECT_FALSE(mark_best_checkpoint(folder_, 20));
  EXPECT_FALSE(fs::is_symlink(folder_ / "best"));
  for (const std::optional<std::int64_t> gone : {std::optional<std::int64_t>(20), {}}) {
    EXPECT_TRUE(mark_best_checkpoint(folder_, 10));
    EXPECT_EQ(fs::read_symlink(folder_ / "best"), "step-10");
    EXPECT_FALSE(mark_best_checkpoint(folder_, gone));
    EXPECT_FALSE(fs::is_symlink(folder_ / "best"));
  }
}

TEST_F(CheckpointTest, RoundTripAndHistory) {
  for (const std::int64_t step : {10, 20, 30}) save_checkpoint(folder_, some_checkpoint(step), 2);
  EXPECT_FALSE(fs::exists(folder_ / "step-10"));
  EXPECT_EQ(fs::read_symlink(folder_ / "latest"), "step-30");
  const auto newest = newest_checkpoint(folder_);
  ASSERT_TRUE(newest);
  EXPECT_EQ(newest->filename(), "step-30");
  const Checkpoint read = load_checkpoint(*newest);
  EXPECT_EQ(read.step, 30);
  expect_equal(read.model, some_checkpoint(30).model);
  expect_equal(read.optimizer, some_checkpoint(30).optimizer);
  EXPECT_EQ(read.state, some_checkpoint(30).state);
  EXPECT_FALSE(newest_checkpoint(folder_ / "nothing"));
}

TEST_F(CheckpointTest, MovingAveragesAreAFileOfTheirOwn) {
  Checkpoint with = some_checkpoint(20);
  with.ema = some_tensors();
  save_checkpoint(folder_, some_checkpoint(10), 9);
  save_checkpoint(folder_, with, 9);
  EXPECT_FALSE(fs::exists(folder_ / "step-10" / "ema.safetensors"));
  EXPECT_TRUE(load_checkpoint(folder_ / "step-10").ema.empty());
  expect_equal(load_checkpoint(folder_ / "step-20").ema, some_tensors());
  Bytes damaged = read_file(folder_ / "step-20" / "ema.safetensors");
  damaged.back() ^= std::byte{1};
  write_file_durably(folder_ / "step-20" / "ema.safetensors", damaged);
  EXPECT_THROW(load_checkpoint(folder_ / "step-20"), FormatError);
  fs::remove(folder_ / "step-20" / "ema.safetensors");
  EXPECT_THROW(load_checkpoint(folder_ / "step-20"), FormatError);
}

// As a process that was killed while writing leaves it.
TEST_F(CheckpointTest, WhatIsUnfinishedIsRemovedAndNothingElse) {
  save_checkpoint(folder_, some_checkpoint(2), 2);
  for (const char* name :
       {"step-1.part", "step-2.part", "step-3.part", "step-x.part", "mine.part", "step-4"}) {
    make_directories(folder_ / name);
    write_file_durably(folder_ / name / "model.safetensors", std::string("begun"));
  }
  remove_unfinished_checkpoints(folder_);
  std::set<std::string> left;
  for (const auto& entry : fs::directory_iterator(folder_)) left.insert(entry.path().filename());
  EXPECT_EQ(left,
            (std::set<std::string>{"step-2", "latest", "step-x.part", "mine.part", "step-4"}));
  remove_unfinished_checkpoints(folder_ / "none");
}

// As when the disk is full.
TEST_F(CheckpointTest, WhatFailsLeavesNothingBehind) {
  const auto entries = [&] { return std::distance(fs::directory_iterator(folder_), {}); };
  const auto before = entries();
  Checkpoint checkpoint = some_checkpoint(1);
  checkpoint.model.front().name = std::string("\xff", 1);  // not representable in JSON
  EXPECT_ANY_THROW(save_checkpoint(folder_, checkpoint, 2));
  EXPECT_EQ(entries(), before);
}

TEST_F(CheckpointTest, SavingAStepAgainReplacesIt) {
  save_checkpoint(folder_, some_checkpoint(10), 2);
  Checkpoint other = some_checkpoint(10);
  other.state = "{}";
  save_checkpoint(folder_, other, 2);
  EXPECT_EQ(load_checkpoint(folder_ / "step-10").state, "{}");
}

TEST_F(CheckpointTest, TornAndDamagedOnesArePassedOverAndNamed) {
  for (const std::int64_t step : {10, 20, 30, 40})
    save_checkpoint(folder_, some_checkpoint(step), 9);
  fs::remove(folder_ / "step-40" / "manifest.json");
  fs::resize_file(folder_ / "step-30" / "model.safetensors", 40);
  Bytes damaged = read_file(folder_ / "step-20" / "optimizer.safetensors");
  damaged.back() ^= std::byte{1};
  write_file_durably(folder_ / "step-20" / "optimizer.safetensors", damaged);
  fs::create_directory(folder_ / "step-99.part");
  std::vector<std::string> skipped;
  const auto newest = newest_checkpoint(folder_, &skipped);
  ASSERT_TRUE(newest);
  EXPECT_EQ(newest->filename(), "step-10");
  ASSERT_EQ(skipped.size(), 3U);
  EXPECT_NE(skipped[0].find("step-40"), std::string::npos);
  EXPECT_NE(skipped[2].find("optimizer.safetensors is damaged"), std::string::npos);
}

TEST_F(CheckpointTest, WhereAllAreTornNothingBeginsAnew) {
  for (const std::int64_t step : {10, 20}) save_checkpoint(folder_, some_checkpoint(step), 9);
  for (const char* name : {"step-10", "step-20"}) fs::resize_file(folder_ / name / "state.json", 3);
  try {
    newest_checkpoint(folder_);
    FAIL();
  } catch (const FormatError& error) {
    EXPECT_NE(std::string(error.what()).find("step-20/state.json is damaged"), std::string::npos);
  }
}

// A folder in place of the file: reading it fails, as on a disk that does not respond.
TEST_F(CheckpointTest, WhatCannotBeReadNowIsNotTakenForDamage) {
  for (const std::int64_t step : {10, 20}) save_checkpoint(folder_, some_checkpoint(step), 9);
  fs::remove(folder_ / "step-20" / "state.json");
  EXPECT_EQ(newest_checkpoint(folder_)->filename(), "step-10");
  fs::create_directory(folder_ / "step-20" / "state.json");
  EXPECT_THROW(newest_checkpoint(folder_), SystemError);
}

TEST_F(CheckpointTest, ANewerVersionIsRefusedByName) {
  for (const std::int64_t step : {9, 10}) save_checkpoint(folder_, some_checkpoint(step), 2);
  const fs::path manifest = folder_ / "step-10" / "manifest.json";
  std::string text = read_text(manifest);
  text.replace(text.find("\"version\": 1"), 12, "\"version\": 7");
  write_file_durably(manifest, text);
  EXPECT_THROW(newest_checkpoint(folder_), FormatError);  // although step 9 is readable
  try {
    load_checkpoint(folder_ / "step-10");
    FAIL();
  } catch (const FormatError& error) {
    EXPECT_NE(std::string(error.what()).find("newer winnow (checkpoint version 7"),
              std::string::npos);
  }
}

}  // namespace winnow::train::checkpoint_test
