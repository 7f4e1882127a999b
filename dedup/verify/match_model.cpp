#include "dedup/verify/match_model.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "dedup/verify/solve_internal.h"

namespace winnow::dedup {
namespace {

constexpr std::size_t kCount = std::tuple_size_v<MatchFeatures>;

double logistic(double score) noexcept { return 1 / (1 + std::exp(-score)); }

// The objective of fit_model(): minus the log likelihood, plus the penalty for deviation from the
// known weights.
double loss_of(const MatchModel& model, std::span<const MatchExample> examples, double hold) {
  double loss = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    const double apart = model.weights[i] - known_model().weights[i];
    loss += hold / 2 * apart * apart;
  }
  for (const MatchExample& example : examples) {
    const double score = model.score(example.features);
    const double wrong = example.is_same ? -score : score;
    loss += std::max(wrong, 0.0) + std::log1p(std::exp(-std::fabs(wrong)));
  }
  return loss;
}

std::optional<MatchFeatures> newton_step(const MatchModel& model,
                                         std::span<const MatchExample> examples, double hold) {
  Matrix<kCount> bend{};
  MatchFeatures slope{};
  for (std::size_t i = 0; i < kCount; ++i) {
    bend[i][i] = hold;
    slope[i] = hold * (known_model().weights[i] - model.weights[i]);
  }
  for (const MatchExample& example : examples) {
    const double is_same = logistic(model.score(example.features));
    const double residual = (example.is_same ? 1 : 0) - is_same;
    const double weight = is_same * (1 - is_same);
    for (std::size_t i = 0; i < kCount; ++i) {
      slope[i] += residual * example.features[i];
      for (std::size_t j = 0; j < kCount; ++j) {
        bend[i][j] += weight * example.features[i] * example.features[j];
      }
    }
  }
  return solve(bend, slope);
}

}  // namespace

MatchFeatures features_of(const Evidence& evidence) noexcept {
  const auto fisher = [](double correlation) {
    return std::atanh(std::clamp(correlation, -0.99, 0.995));
  };
  // Detail counts at the scale at which both pictures show it.
  const double seen = evidence.weight * evidence.zoom * evidence.zoom;
  return {fisher(evidence.agreement),
          fisher(evidence.mean),
          std::log1p(seen),
          std::log(evidence.overlap + 0.01),
          std::log(std::max(evidence.zoom, 0.1)),
          evidence.stretch - 1,
          1};
}

double MatchModel::score(const MatchFeatures& features) const noexcept {
  double sum = 0;
  for (std::size_t i = 0; i < kCount; ++i) sum += weights[i] * features[i];
  return sum;
}

double MatchModel::probability(const Evidence& evidence) const noexcept {
  if (evidence.overlap < kLeastOverlap) return 0;
  return logistic(score(features_of(evidence)));
}

const MatchModel& known_model() noexcept {
  static constexpr MatchModel kModel{{6.2, 6.6, 1.36, 6.2, 3.6, -24, -12.6}};
  return kModel;
}

MatchModel fit_model(std::span<const MatchExample> examples, double hold) {
  MatchModel model = known_model();
  double loss = loss_of(model, examples, hold);
  for (int round = 0; round < 50; ++round) {
    const auto change = newton_step(model, examples, hold);
    if (!change) break;
    // If the classes are cleanly separable, a full step overshoots.
    double share = 1;
    MatchModel next = model;
    double next_loss = loss;
    for (; share > 1e-6; share /= 2) {
      for (std::size_t i = 0; i < kCount; ++i) {
        next.weights[i] = model.weights[i] + share * (*change)[i];
      }
      next_loss = loss_of(next, examples, hold);
      if (next_loss < loss) break;
    }
    if (next_loss >= loss) break;
    const bool is_done = loss - next_loss < 1e-10 * loss;
    model = next;
    loss = next_loss;
    if (is_done) break;
  }
  return model;
}

}  // namespace winnow::dedup
