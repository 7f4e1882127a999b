#include "dedup/verify/estimate.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "common/error.h"
#include "dedup/verify/match_model.h"
#include "tests/dedup/scenes.h"

namespace winnow::dedup::estimate_test {

// Scenes; every second one occurs twice.
struct Pictures {
  explicit Pictures(std::uint32_t count) : rows(count) {
    std::iota(rows.begin(), rows.end(), std::uint32_t{0});
    for (std::uint32_t row = 0; row < count; ++row)
      images.push_back(scene(row / 4 * 4 + row % 4 / 2));
  }
  PictureSource source() const {
    return [this](std::uint32_t row) { return images[row]; };
  }

  std::vector<std::uint32_t> rows;
  std::vector<Image> images;
};

// A clock that advances by a second at each reading.
Seconds ticking(int& ticks) {
  return [&ticks] { return static_cast<double>(ticks++); };
}

TEST(VerifyEstimate, CountsTheTrialsOfASetThatIsItsOwnSample) {
  const Pictures pictures(60);
  const std::vector<Edge> near{{0, 59, 3}};
  int ticks = 0;
  const VerifyEstimate estimate = estimate_verification(pictures.rows, pictures.source(), near,
                                                        known_model(), {}, ticking(ticks));
  const Verification all = verify(pictures.rows, pictures.source(), near, known_model());
  EXPECT_EQ(estimate.sampled, 60);
  EXPECT_EQ(estimate.trials, static_cast<double>(all.counts.registered));
  EXPECT_GE(estimate.trials, 31) << "thirty pairs of one scene, and the near one";
  // One second per measured step, extrapolated and summed.
  EXPECT_GT(estimate.core_seconds, 2);
  EXPECT_LT(estimate.core_seconds, ticks);
  EXPECT_GT(estimate.bytes, 60 * 20 * 28) << "twenty landmarks a picture at least";
}

TEST(VerifyEstimate, OfNothingIsNothing) {
  int ticks = 0;
  const VerifyEstimate none = estimate_verification({}, {}, {}, known_model(), {}, ticking(ticks));
  EXPECT_EQ(none.sampled, 0);
  EXPECT_EQ(none.core_seconds, 0);
  EXPECT_EQ(ticks, 0);
}

TEST(VerifyEstimate, Stops) {
  const Pictures pictures(8);
  VerifyOptions options;
  options.search.stop = [] { return true; };
  int ticks = 0;
  EXPECT_THROW(estimate_verification(pictures.rows, pictures.source(), {}, known_model(), options,
                                     ticking(ticks)),
               StoppedError);
}

}  // namespace winnow::dedup::estimate_test
