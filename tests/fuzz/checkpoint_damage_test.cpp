// Damaged checkpoints: a step-N directory is read as it was saved, or it is refused.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "common/json_text.h"
#include "tests/common/temporary_folder.h"
#include "tests/fuzz/damage.h"
#include "train/checkpoint/checkpoint.h"
#include "train/plan/run_plan.h"
#include "train/run/log/metrics.h"
#include "train/run/record/run_state.h"
#include "train/run/record/setup.h"

namespace winnow::train {
using namespace test;
namespace checkpoint_damage_test {

namespace fs = std::filesystem;

bool equal(const std::vector<NamedTensor>& a, const std::vector<NamedTensor>& b) {
  return std::ranges::equal(a, b, [](const NamedTensor& x, const NamedTensor& y) {
    return x.name == y.name && x.dtype == y.dtype && x.shape == y.shape && x.data == y.data;
  });
}

Checkpoint small_checkpoint() {
  const std::vector<float> weights{1.5F, -2, 0.25F, 3e-30F, 5, 6};
  const std::vector<float> bias{0.5F};
  return {.step = 12,
          .model = {make_f32("conv1.weight", {2, 3, 1, 1}, weights), make_f32("fc.bias", {1}, bias),
                    make_i64("bn1.num_batches_tracked", 12)},
          .optimizer = {make_f32("momentum.fc.bias", {1}, bias)},
          .state = "{\n  \"step\": 12\n}\n"};
}

class CheckpointDamage : public testing::TestWithParam<const char*> {
 protected:
  CheckpointDamage() {
    save_checkpoint(folder_.path(), small_checkpoint(), 1);
    victim_.emplace(folder_ / "step-12" / GetParam());
  }

  Read read() const {
    return [this] {
      const Checkpoint wanted = small_checkpoint();
      const Checkpoint read = load_checkpoint(folder_ / "step-12");
      if (read.step != wanted.step || read.state != wanted.state ||
          !equal(read.model, wanted.model) || !equal(read.optimizer, wanted.optimizer)) {
        throw std::logic_error("another checkpoint");
      }
    };
  }

  TemporaryFolder folder_;
  std::optional<Victim> victim_;
};

TEST_P(CheckpointDamage, EveryBitFlipped) {
  Judge judge(*victim_, read());
  flip_every_byte(*victim_, judge, Bits::kEach);
  EXPECT_EQ(judge.refused(), static_cast<int>(9 * victim_->good().size()));
}

TEST_P(CheckpointDamage, EveryLengthAndGrown) {
  Judge judge(*victim_, read());
  cut_to_every_length(*victim_, judge);
  grow(*victim_, judge);
}

TEST_P(CheckpointDamage, Scattered) {
  Judge judge(*victim_, read());
  scatter(*victim_, judge, 2000, 30);
  EXPECT_GT(judge.refused(), 1500);
}

TEST_P(CheckpointDamage, Missing) {
  fs::remove(victim_->path());
  Judge judge(*victim_, read());
  judge.judge(Must::kRefuse, [] { return "removed"; });
}

INSTANTIATE_TEST_SUITE_P(Files, CheckpointDamage,
                         testing::Values("model.safetensors", "optimizer.safetensors", "state.json",
                                         "manifest.json"),
                         [](const auto& row) { return fs::path(row.param).stem().string(); });

// A manifest is JSON from anywhere: fields of other types, and numbers outside every range.
TEST(CheckpointManifest, FieldsOfOtherTypes) {
  const TemporaryFolder folder;
  save_checkpoint(folder.path(), small_checkpoint(), 1);
  Victim victim(folder / "step-12" / "manifest.json");
  const std::string good(as_text(victim.good()));
  Judge judge("step-12", [&] { load_checkpoint(folder / "step-12"); });
  const std::vector<std::string> values{
      "-1",   "1e300",
      "1.5",  "99999999999999999999999",
      "null", "\"text\"",
      "[]",   "{}",
      "true", std::string(1'000'000, '[') + std::string(1'000'000, ']')};
  for (const std::string field : {"version", "step", "bytes", "xxh3_128", "files"}) {
    for (const std::string& value : values) {
      const std::size_t at = good.find("\"" + field + "\": ") + field.size() + 4;
      const std::size_t end = good.find_first_of(",\n", at);
      std::string bad = good.substr(0, at) + value + good.substr(end);
      if (field == "files") bad = good.substr(0, at) + value + "\n}\n";
      bad.erase(bad.find("  \"digest\""), bad.find('\n', 2) + 1 - bad.find("  \"digest\""));
      bad = with_digest_line(bad);
      victim.resize(bad.size());
      victim.write(0, as_bytes(bad));
      judge.judge(Must::kRefuse, [&] { return field + " = " + value.substr(0, 30); });
      victim.restore();
    }
  }
}

TEST(RunFiles, DeepNestingIsRefusedBeforeItOverflowsTheStack) {
  const std::string lists = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  const std::string deep = R"({"version":1,"tasks":)" + lists + R"(,"a":1,"b":2,"c":3,"d":4})";
  EXPECT_THROW(parse_plan(deep, "plan.json"), FormatError);
  EXPECT_THROW(parse_state(deep, "state.json"), FormatError);
}

// A run's configuration defines the net.
TEST(RunConfig, AnyDamageIsRefused) {
  const TemporaryFolder folder;
  copy_golden("v1/run", folder / "run");
  Victim victim(folder / "run" / "config.json");
  Judge judge(victim, [&] { parse_config(read_text(victim.path()), victim.path().string()); });
  flip_every_byte(victim, judge, Bits::kEach, [](std::size_t) { return Must::kRefuse; });
  scatter(victim, judge, 2000, 30);
  for (std::size_t size = victim.good().size(); size-- > 0;) {
    victim.resize(size);
    judge.judge(Must::kRefuse, [&] { return "cut to " + std::to_string(size); });
  }
  EXPECT_GT(judge.refused(), 1000);
}

// Metrics are only read by people: undamaged lines are kept, and the run continues.
TEST(MetricsDamage, LinesThatAreWholeAreKept) {
  const TemporaryFolder folder;
  const fs::path path = folder / "metrics.jsonl";
  MetricsLog(path, 0).write({1, 0.5, 1.25, {{"train.loss", 2.5}}});
  for (int step = 2; step < 6; ++step) MetricsLog(path, 5).write({step, 1, 2, {{"train.lr", 0.1}}});
  const std::string good = read_text(path);
  std::mt19937_64 random(6);
  int lines = 0;
  for (int i = 0; i < 150; ++i) {  // each one syncs
    std::string bad = good.substr(0, random() % (good.size() + 1));
    for (std::uint64_t k = random() % 3; !bad.empty() && k > 0; --k) {
      bad[random() % bad.size()] = "\"{}[],:\n-1\xC3"[random() % 11];
    }
    write_file_durably(path, bad);
    MetricsLog(path, 4).write({5, 2, 3, {{"train.lr", 0.1}}});
    std::istringstream kept(read_text(path));
    for (std::string line; std::getline(kept, line); ++lines) {
      const auto row = nlohmann::json::parse(line, nullptr, false);
      ASSERT_TRUE(row.is_object() && row["step"].is_number_integer()) << line;
      ASSERT_LE(row["step"], 5);
    }
  }
  EXPECT_GT(lines, 200);
}

}  // namespace checkpoint_damage_test
}  // namespace winnow::train
