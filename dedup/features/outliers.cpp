#include "dedup/features/outliers.h"

#include <algorithm>

namespace winnow::dedup {

std::vector<float> outlier_scores(const NearestRows& nearest) {
  std::vector<float> scores;
  std::vector<float> some;  // that are more than 0
  for (std::size_t row = 0; row < nearest.rows; ++row) {
    double sum = 0;
    const auto rows = nearest[row];
    for (const NearRow& near : rows) sum += std::max(0.0, 1 - double{near.cosine});
    scores.push_back(rows.empty() ? 0.0F
                                  : static_cast<float>(sum / static_cast<double>(rows.size())));
    if (scores.back() > 0) some.push_back(scores.back());
  }
  if (some.empty()) return scores;
  const auto middle = some.begin() + static_cast<std::ptrdiff_t>(some.size() / 2);
  std::ranges::nth_element(some, middle);
  for (float& score : scores) score /= *middle;
  return scores;
}

std::vector<float> outlier_scores(const FeatureTable& table, int k,
                                  const NeighbourOptions& options) {
  return outlier_scores(nearest_rows(FeatureIndex(table), k, options));
}

}  // namespace winnow::dedup
