#include "dedup/verify/trials.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace winnow::dedup::trials_test {

constexpr std::uint32_t kPictures = 1000;
constexpr std::uint8_t kDoubtful = 2;
constexpr std::uint8_t kSupported = 8;

// Pictures in a row, of one landmark each.
LandmarkTable landmarks() {
  LandmarkTable table;
  for (std::uint32_t row = 0; row < kPictures; ++row) {
    table.append(row, std::vector<std::uint64_t>(2), std::vector<PackedPlace>(1));
  }
  return table;
}

// Each picture is like the `next` ones behind it, and the first is a copy of the second.
SupportedHits hits_of(std::uint32_t next) {
  SupportedHits found;
  for (std::uint32_t a = 0; a < kPictures; ++a) {
    for (std::uint32_t b = a + 1; b < std::min(kPictures, a + 1 + next); ++b) {
      found.hits.push_back({a, b, 12, a, b, false});
      found.supports.push_back(a == 0 && b == 1 ? kSupported : kDoubtful);
    }
  }
  return found;
}

TEST(Trials, AreAllThatIsWorthOneWhereThereAreFew) {
  const SupportedHits found = hits_of(20);
  const std::vector<Edge> near{{0, 2, 3}, {5, 900, 3}};
  const Trials trials = trials_of(landmarks(), found, near);
  EXPECT_EQ(trials.candidates, found.hits.size() + 1);
  ASSERT_EQ(trials.trials.size(), found.hits.size() + 1);
  EXPECT_EQ(trials.supports.size(), trials.trials.size());
  EXPECT_EQ(trials.supports[0], kSupported);
  const auto is_near = [](const Trial& trial) { return trial.is_near; };
  EXPECT_EQ(std::ranges::count_if(trials.trials, is_near), 2);
}

TEST(Trials, OfDoubtGoFirstWhereThereAreMany) {
  const std::vector<Edge> near{{0, 900, 3}};
  const SupportedHits found = hits_of(100);
  ASSERT_GT(found.hits.size(), most_trials(kPictures));
  const Trials trials = trials_of(landmarks(), found, near);
  EXPECT_EQ(trials.candidates, found.hits.size() + 1);
  EXPECT_LE(trials.trials.size(), most_trials(kPictures));
  EXPECT_EQ(trials.trials[0].row_b, 1);
  EXPECT_EQ(trials.supports[0], kSupported);
  std::vector<int> of_picture(kPictures);
  bool has_near = false;
  for (const Trial& trial : trials.trials) {
    ++of_picture[trial.row_a];
    ++of_picture[trial.row_b];
    has_near = has_near || (trial.row_a == 0 && trial.row_b == 900 && trial.is_near);
  }
  EXPECT_TRUE(has_near);
  EXPECT_GE(std::ranges::min(of_picture), 2);
}

}  // namespace winnow::dedup::trials_test
