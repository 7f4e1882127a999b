#include "app/plan/kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "app/plan/kernel_words.h"
#include "app/plan/plan_toml.h"
#include "app/plan/tables.h"
#include "common/error.h"
#include "tests/common/temporary_folder.h"

namespace winnow::app::kernels_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using train::KernelChoices;
using train::LayerTimes;

// The first is faster by patches, which need 3 KiB; the second has a kernel that is not surely
// faster; the third has no other.
std::vector<LayerTimes> some_times() {
  return {{.layer = "conv2d backward-filter f32 n8 c16 h32 w32 k16 r3 s3 p32 q32 stride1 pad1",
           .nodes = 3,
           .kernels = {{"jit:avx2", {0.5, 0.25, 0.375}, 1024},
                       {"gemm:jit", {0.3125}, 2048},
                       {"unfold gemm:jit", {0.125, 0.0625, 0.25}, 3072}}},
          {.layer = "conv2d forward f32 n8 c16 h32 w32 k16 r3 s3 p32 q32 stride1 pad1",
           .nodes = 4,
           .kernels = {{"jit:avx2", {0.25}, 0}, {"gemm:jit", {0.2421875}, 512}}},
          {.layer = "linear forward f32 n8 c64 h1 w1 k10", .kernels = {{"brgemm", {1e-5}, 17}}}};
}

std::string kernel_of(const PlanKernels& kernels, std::size_t layer) {
  return kernels.layers.at(layer).chosen.name;
}

TEST(ChosenKernels, AreTheFastestThatFit) {
  const PlanKernels wide = chosen_kernels(some_times(), 4096);
  EXPECT_EQ(kernel_of(wide, 0), "unfold gemm:jit");
  EXPECT_EQ(kernel_of(wide, 1), "jit:avx2");
  EXPECT_EQ(kernel_of(wide, 2), "brgemm");
  EXPECT_EQ(wide.seconds(&PlanLayer::own), 3 * 0.375 + 4 * 0.25 + 1e-5);
  EXPECT_EQ(wide.seconds(&PlanLayer::chosen), 3 * 0.125 + 4 * 0.25 + 1e-5);
  EXPECT_EQ(wide.scratch_bytes(&PlanLayer::own), 1024u);
  EXPECT_EQ(wide.scratch_bytes(&PlanLayer::chosen), 3072u);
  EXPECT_EQ(kernel_of(chosen_kernels(some_times(), 3071), 0), "gemm:jit");
  EXPECT_EQ(kernel_of(chosen_kernels(some_times(), 2047), 0), "jit:avx2");
}

TEST(ChosenKernels, AreTakenBack) {
  PlanKernels kernels = chosen_kernels(some_times(), 4096);
  EXPECT_THAT(kernel_choices(kernels),
              ElementsAre(std::pair(some_times().front().layer, "unfold gemm:jit")));
  keep_own_kernels(kernels);
  EXPECT_THAT(kernel_choices(kernels), IsEmpty());
  EXPECT_EQ(kernels.seconds(&PlanLayer::chosen), kernels.seconds(&PlanLayer::own));
}

TEST(ScratchRoom, IsWhatTheLanesLeave) {
  constexpr std::size_t kMib = std::size_t{1} << 20;
  EXPECT_EQ(scratch_room(100 * kMib, {.lanes = 2, .peak = 80 * kMib}, 5), 5 + 8 * kMib);
  EXPECT_EQ(scratch_room(83 * kMib, {.lanes = 2, .peak = 80 * kMib}, 5), 5u);  // less than a page
  EXPECT_EQ(scratch_room(70 * kMib, {.lanes = 2, .peak = 80 * kMib}, 5), 5u);
  EXPECT_EQ(own_scratch(some_times()), 1024u);
}

// Columns of a line are two spaces or more apart.
std::vector<std::string> columns(const std::string& line) {
  std::vector<std::string> out;
  for (std::size_t at = line.find_first_not_of(' '); at != std::string::npos;) {
    const std::size_t end = line.find("  ", at);
    out.push_back(line.substr(at, end == std::string::npos ? end : end - at));
    at = line.find_first_not_of(' ', end);
  }
  return out;
}

// Numbers at the ends of columns, as `12.5 3.0`.
std::vector<double> numbers(const std::string& text) {
  std::istringstream in(text);
  std::vector<double> out;
  for (double number; in >> number;) out.push_back(number);
  return out;
}

PlanReport report() {
  PlanReport report{.net = "resnet20"};
  report.rows = {PlanRow{}};
  report.kernels = chosen_kernels(some_times(), 4096);
  return report;
}

TEST(KernelTable, EveryNumberOfTheJsonIsTheTables) {
  const PlanReport of = report();
  const auto json = nlohmann::ordered_json::parse(json_of(of).dump())["kernels"];
  std::istringstream in(tables_of(of));
  std::string line;
  while (std::getline(in, line) && !line.starts_with("kernels of the best row")) {
  }
  EXPECT_THAT(line, HasSubstr("measured"));
  std::getline(in, line);  // names of columns
  const auto expect_kernel = [](const std::string& cells, const nlohmann::ordered_json& kernel) {
    const std::string name = kernel.value("kernel", "");
    ASSERT_TRUE(cells.starts_with(name)) << cells;
    const std::vector<double> found = numbers(cells.substr(name.size()));
    ASSERT_EQ(found.size(), 2u) << cells;
    EXPECT_NEAR(found[0], 1e3 * kernel["seconds"].get<double>(), 0.000501) << cells;
    EXPECT_NEAR(found[1], kernel["scratch_bytes"].get<double>() / 1024, 0.0501) << cells;
  };
  // The cells of a kernel: its name, padded, and its numbers.
  const auto cells = [](const std::vector<std::string>& all, std::size_t first, std::size_t last) {
    std::string joined;
    for (std::size_t i = first; i < last; ++i) joined += all[i] + " ";
    return joined;
  };
  ASSERT_EQ(json["layers"].size(), 3u);
  for (const auto& row : json["layers"]) {
    ASSERT_TRUE(std::getline(in, line));
    const bool other = row["own"]["kernel"] != row["chosen"]["kernel"];
    EXPECT_EQ(line.front(), other ? '*' : ' ');
    const std::vector<std::string> all = columns(line.substr(1));
    EXPECT_EQ(all.front(), std::to_string(row["nodes"].get<int>()));
    EXPECT_EQ(all.back(), row["layer"].get<std::string>());
    const auto second = std::ranges::find_if(all.begin() + 2, all.end(), [&](const auto& one) {
      return one.starts_with(row["chosen"]["kernel"].template get<std::string>());
    });
    const auto middle = static_cast<std::size_t>(second - all.begin());
    ASSERT_LT(middle, all.size()) << line;
    expect_kernel(cells(all, 1, middle), row["own"]);
    expect_kernel(cells(all, middle, all.size() - 1), row["chosen"]);
  }
  ASSERT_TRUE(std::getline(in, line));
  const std::vector<std::string> sums = columns(line);
  EXPECT_EQ(sums.front(), "sum");
  const std::vector<double> found = numbers(cells(sums, 1, sums.size() - 1));
  ASSERT_EQ(found.size(), 4u) << line;
  EXPECT_NEAR(found[0], 1e3 * json["own_seconds"].get<double>(), 0.000501);
  EXPECT_NEAR(found[1], json["own_scratch_bytes"].get<double>() / 1024, 0.0501);
  EXPECT_NEAR(found[2], 1e3 * json["seconds"].get<double>(), 0.000501);
  EXPECT_NEAR(found[3], json["scratch_bytes"].get<double>() / 1024, 0.0501);
  EXPECT_EQ(json["room_bytes"], 4096);
  EXPECT_THAT(sums.back(), HasSubstr("at most 4.0 KiB"));
}

TEST(KernelTable, SaysWhereTimesComeFrom) {
  PlanReport of = report();
  EXPECT_EQ(json_of(of)["kernels"]["kept"], false);
  of.kernels->kept = true;
  EXPECT_THAT(tables_of(of), HasSubstr("measured by an earlier plan"));
  EXPECT_EQ(json_of(of)["kernels"]["kept"], true);
  of.kernels.reset();
  EXPECT_EQ(json_of(of)["kernels"], nullptr);
}

// The kernels that training takes from a plan's file.
KernelChoices taken(const std::string& toml) {
  std::vector<std::string> words;
  for (const auto& [name, value] : parse_plan_toml(toml, "plan.toml")) {
    if (name == "kernel") words.push_back(value);
  }
  return parse_kernel_words(words);
}

TEST(KernelWords, OfAPlansTomlGiveThePlanAgain) {
  KernelChoices chosen = kernel_choices(chosen_kernels(some_times(), 4096));
  for (const std::size_t count : {1u, 2u}) {
    PlannedFlags flags{{"net", "resnet20"}, {"micro-batch", "8"}};
    for (const std::string& word : kernel_words(chosen)) flags.emplace_back("kernel", word);
    const std::string toml = plan_toml(flags, "a plan");
    EXPECT_EQ(parse_plan_toml(toml, "plan.toml"), flags);
    EXPECT_EQ(taken(toml), chosen);
    EXPECT_EQ(chosen.size(), count);
    chosen["linear forward f32 n8 c64 h1 w1 k10"] = "gemm:jit";
  }
}

TEST(KernelWords, ThatAreNoneAreRefused) {
  for (const char* word : {"jit:avx2", "=jit", "conv2d=", "", "a\tb=c", "a=b\n"}) {
    EXPECT_THROW(parse_kernel_words({word}), UsageError) << word;
  }
  EXPECT_THROW(parse_kernel_words({"a=b", "a=c"}), UsageError);
  EXPECT_THAT(parse_kernel_words({}), IsEmpty());
}

class KernelTimesTest : public testing::Test {
 protected:
  static train::KernelCandidates candidates_of(const std::vector<LayerTimes>& layers) {
    train::KernelCandidates candidates;
    for (const LayerTimes& layer : layers) {
      for (const train::KernelTimes& kernel : layer.kernels) {
        candidates[layer.layer].push_back(kernel.name);
      }
    }
    return candidates;
  }

  KernelTimesFound find(const std::vector<LayerTimes>& there, bool again = false) {
    const auto measure = [&](const std::function<bool()>& goes_on) {
      ++measured_;
      went_on_ = goes_on();
      return there;
    };
    const KernelMeasuring measuring{
        .turns = 3, .turn_seconds = 2, .limit_seconds = 1e6, .again = again};
    return find_kernel_times(candidates_of(there), rates_, "resnet20", measuring, measure,
                             session_);
  }

  int measured_ = 0;
  bool went_on_ = false;
  bool stop_ = false;
  std::vector<std::string> said_;
  const TemporaryFolder folder_;
  const Rates rates_{folder_.path(), {.processor = "AMD EPYC", .cores = 2}};
  const std::unique_ptr<comm::Communicator> comm_ = comm::make_single();
  const Session session_{
      .comm = *comm_,
      .threads = {},
      .stop = [this] { return stop_; },
      .to = {.sentence = [this](const std::string& sentence) { said_.push_back(sentence); },
             .lines = {},
             .flush = {},
             .bar = {},
             .nothing_to_finish = {}}};
};

TEST_F(KernelTimesTest, AreMeasuredOnce) {
  EXPECT_FALSE(find(some_times()).kept);
  EXPECT_TRUE(went_on_);
  EXPECT_THAT(said_, ElementsAre("measuring kernels takes about 18 s"));
  const KernelTimesFound again = find(some_times());
  EXPECT_TRUE(again.kept);
  EXPECT_EQ(to_text(again.layers), to_text(some_times()));
  EXPECT_EQ(measured_, 1);
  EXPECT_EQ(said_.size(), 1u);
  EXPECT_FALSE(find(some_times(), true).kept);
  EXPECT_EQ(measured_, 2);
}

TEST_F(KernelTimesTest, OfOtherKernelsAreNothingFound) {
  find(some_times());
  std::vector<LayerTimes> other = some_times();
  other[0].kernels[2].name = "unfold brgemm";
  EXPECT_FALSE(find(other).kept);
  other.pop_back();
  EXPECT_FALSE(find(other).kept);
  EXPECT_EQ(measured_, 3);
}

TEST_F(KernelTimesTest, AreNotKeptWhenStopped) {
  stop_ = true;
  EXPECT_THROW(find(some_times()), StoppedError);
  EXPECT_FALSE(went_on_);
  stop_ = false;
  EXPECT_FALSE(find(some_times()).kept);
}

TEST(KernelMeasuringTest, TakesAFirstRoundAndMoreWithinItsLimit) {
  KernelMeasuring measuring{.turns = 4, .turn_seconds = 0.5, .limit_seconds = 100};
  EXPECT_EQ(measuring.seconds(), 6);
  measuring.limit_seconds = 3;
  EXPECT_EQ(measuring.seconds(), 3);
  measuring.limit_seconds = 1;
  EXPECT_EQ(measuring.seconds(), 2);
}

TEST(KernelTimesText, ParsedGivesThemAgain) {
  const std::string text = to_text(some_times());
  EXPECT_EQ(to_text(parse_layers(text)), text);
  EXPECT_THAT(parse_layers(text).front().kernels.front().seconds, ElementsAre(0.5, 0.25, 0.375));
  const auto layer = [](const std::string& kernels) {
    return R"([{"layer": "a", "nodes": 1, "kernels": [)" + kernels + "]}]";
  };
  EXPECT_EQ(parse_layers(layer(R"({"name": "b", "scratch_bytes": 0, "seconds": [1]})")).size(), 1u);
  for (const std::string& bad :
       {std::string(), std::string("{}"), std::string("[{}]"), std::string("nonsense"),
        std::string(R"([{"layer": "a", "nodes": 0, "kernels": []}])"), layer(""),
        layer(R"({"name": "b", "scratch_bytes": 0, "seconds": []})"),
        layer(R"({"name": "b", "scratch_bytes": 0, "seconds": [-1]})"),
        layer(R"({"name": "b", "scratch_bytes": -1, "seconds": [1]})")}) {
    EXPECT_THAT(parse_layers(bad), IsEmpty()) << bad;
  }
}

}  // namespace winnow::app::kernels_test
