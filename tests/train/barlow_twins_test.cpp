#include "train/ops/barlow_twins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "tests/train/golden_tensors.h"
#include "tests/train/run_operation.h"

namespace winnow::train::barlow_twins_test {

using testing::DoubleNear;
using testing::Each;
using testing::HasSubstr;
using testing::Pointwise;

TEST(BarlowTwins, IsPytorchs) {
  for (const JsonReader& row : test::vectors("train/barlow_twins", "cases")) {
    const double redundancy = row.at("redundancy").real();
    SCOPED_TRACE(redundancy);
    const BarlowTwinsAttributes attributes{redundancy};
    const std::vector<Given> operands = {given(row.at("z")), given(row.at("weights"))};
    const std::vector<double>& weights = operands[1].numbers;
    const double loss = row.at("loss").real();
    const auto y = outputs_of(kBarlowTwins, operands, attributes);
    EXPECT_THAT(y[1], Each(DoubleNear(loss, 1e-12)));
    EXPECT_EQ(y[1].size(), weights.size());
    EXPECT_NEAR(y[0][0], loss * std::accumulate(weights.begin(), weights.end(), 0.0), 1e-11);
    const auto d = outputs_of(kBarlowTwinsBackward, operands, attributes);
    EXPECT_THAT(d[0], Pointwise(DoubleNear(1e-12), given(row.at("dz")).numbers));
  }
}

TEST(BarlowTwins, IsNothingWhereViewsAgreeAndFeaturesDiffer) {
  const Given weights{{8}, std::vector<double>(8, 0.125)};
  // Two uncorrelated features; both views are the same.
  const Given z{{8, 2}, {9, 9, 9, 9, 9, -9, 9, -9, -9, 9, -9, 9, -9, -9, -9, -9}};
  EXPECT_NEAR(outputs_of(kBarlowTwins, {z, weights}, BarlowTwinsAttributes{1})[0][0], 0, 1e-12);
  // The same feature twice.
  const Given same{{8, 2}, {9, 9, 9, 9, 9, 9, 9, 9, -9, -9, -9, -9, -9, -9, -9, -9}};
  EXPECT_NEAR(outputs_of(kBarlowTwins, {same, weights}, BarlowTwinsAttributes{0.25})[0][0], 0.25,
              1e-6);
}

TEST(BarlowTwins, RefusesWhatIsNoPairs) {
  const auto refusal = [](std::int64_t rows, double redundancy, const std::string& words) {
    const auto count = static_cast<std::size_t>(rows);
    const std::vector<Given> given = {{{rows, 1}, std::vector<double>(count)},
                                      {{rows}, std::vector<double>(count)}};
    EXPECT_THAT([&] { outputs_of(kBarlowTwins, given, BarlowTwinsAttributes{redundancy}); },
                testing::ThrowsMessage<ShapeError>(HasSubstr(words)));
  };
  refusal(5, 1, "5 rows are not two views of at least two images");
  refusal(2, 1, "2 rows are not two views of");
  refusal(4, 0, "redundancy 0 must be above 0");
}

}  // namespace winnow::train::barlow_twins_test
