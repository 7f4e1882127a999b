#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/sample.h"

namespace winnow::app {

// Where a sample is found among several cross-validation folds.
struct FoldPlace {
  SampleId id;
  std::uint32_t fold;  // number of the fold that has the sample, from 0
  std::size_t sample;  // index of the sample within its fold
};

// Lists the samples of all folds, sorted by id. `Fold` must have a member `ids`.
template <class Fold>
std::vector<FoldPlace> places_by_id(const std::vector<Fold>& folds) {
  std::vector<FoldPlace> places;
  for (std::uint32_t fold = 0; fold < folds.size(); ++fold) {
    for (std::size_t i = 0; i < folds[fold].ids.size(); ++i) {
      places.push_back({folds[fold].ids[i], fold, i});
    }
  }
  std::ranges::sort(places, {}, &FoldPlace::id);
  return places;
}

}  // namespace winnow::app
