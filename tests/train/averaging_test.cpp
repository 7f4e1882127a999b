#include "train/optim/averaging.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace winnow::train::averaging_test {

// How far the weights move in step t = 0, 1, ... if there is no lookahead.
double move(int t) { return std::sin(1.3 * t) / (1 + t); }

TEST(Averaging, EmaIsTensorFlowsWithNumUpdates) {
  const Averaging how = ema_of({{"ema_decay", {0.4}}});
  std::vector<float> value{1, -2};
  std::vector<float> average = value;
  double want = 1;
  double w = 1;
  for (int t = 0; t < 20; ++t) {
    for (float& v : value) v += static_cast<float>(move(t));
    w += move(t);
    const double n = t + 1;
    const double decay = std::min(0.4, (1 + n) / (10 + n));
    want -= (1 - decay) * (want - w);
    update_average(how, t, value, average);
    EXPECT_NEAR(average[0], want, 1e-6);
    EXPECT_NEAR(value[0], w, 1e-6);  // unchanged
  }
}

TEST(Averaging, EmaTakesEverySoManyethStep) {
  const Averaging how = ema_of({{"ema_decay", {0.1}}, {"ema_steps", {3}}});
  std::vector<float> value{1};
  std::vector<float> average{0};
  std::vector<float> seen;
  for (int t = 0; t < 6; ++t) {
    update_average(how, t, value, average);
    seen.push_back(average[0]);
  }
  EXPECT_EQ(seen[0], 0);
  EXPECT_EQ(seen[1], 0);
  EXPECT_NEAR(seen[2], 0.9, 1e-6);  // the warm-up decay, 2 / 11, exceeds 0.1
  EXPECT_EQ(seen[3], seen[2]);
  EXPECT_NEAR(seen[5], 0.99, 1e-6);
}

// arXiv:1907.08610, Algorithm 1.
TEST(Averaging, LookaheadGoesBackToTheSlowWeights) {
  const Averaging how = lookahead_of({{"lookahead_steps", {4}}, {"lookahead_alpha", {0.8}}});
  std::vector<float> fast{2};
  std::vector<float> slow = fast;
  double theta = 2;
  double phi = 2;
  for (int t = 0; t < 12; ++t) {
    fast[0] += static_cast<float>(move(t));
    theta += move(t);
    if ((t + 1) % 4 == 0) {
      phi += 0.8 * (theta - phi);
      theta = phi;
    }
    update_average(how, t, fast, slow);
    EXPECT_NEAR(fast[0], theta, 1e-6) << t;
    EXPECT_NEAR(slow[0], phi, 1e-6) << t;
    if ((t + 1) % 4 == 0) {
      EXPECT_EQ(fast[0], slow[0]);
    }
  }
}

// airbench94: after every 5th step s the slow weights keep 0.95^5 (s / steps)^3 of their values.
TEST(Averaging, LookaheadsShareFallsOverTheRun) {
  constexpr std::int64_t kSteps = 23;
  const double kept = std::pow(0.95, 5);
  const Averaging how = lookahead_of(
      {{"lookahead_steps", {5}}, {"lookahead_alpha", {1 - kept}}, {"lookahead_power", {3}}},
      kSteps);
  std::vector<float> fast{2};
  std::vector<float> slow = fast;
  double theta = 2;
  double phi = 2;
  for (int t = 0; t < kSteps; ++t) {
    fast[0] += static_cast<float>(move(t));
    theta += move(t);
    if ((t + 1) % 5 == 0) {
      const double decay = kept * std::pow((t + 1.0) / kSteps, 3);
      phi = decay * phi + (1 - decay) * theta;
      theta = phi;
    }
    update_average(how, t, fast, slow);
    EXPECT_NEAR(fast[0], theta, 1e-6) << t;
    EXPECT_NEAR(slow[0], phi, 1e-6) << t;
  }
}

TEST(Averaging, NoneWhereNotAskedFor) {
  EXPECT_EQ(ema_of({}).every, 0);
  EXPECT_EQ(lookahead_of({}).every, 0);
  std::vector<float> value{1};
  update_average(ema_of({}), 0, value, {});
  EXPECT_EQ(value[0], 1);
}

}  // namespace winnow::train::averaging_test
