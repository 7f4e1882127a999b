#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "dedup/verify/verify.h"

namespace winnow::dedup {

// Combines the sources of two sets of rows: known rows, followed by queried rows from number `rows`
// on.
template <class Source>
Source of_both(Source known, Source asked, std::uint32_t rows) {
  return
      [known = std::move(known), asked = std::move(asked), rows](std::uint32_t row, auto... more) {
        return row < rows ? known(row, more...) : asked(row - rows, more...);
      };
}

// A set of pictures whose landmarks are computed already (known), to be queried with other
// pictures.
class PictureQuery {
 public:
  // known  Landmarks of rows of `pictures`, all below `rows`.
  PictureQuery(KnownLandmarks known, PictureSource pictures, std::uint32_t rows, MatchModel model);

  // Finds the pairs of a known and a queried picture that show one picture. Same steps as verify()
  // on both sets together, with the same number of hits allowed for each queried picture.
  //
  // near     Pairs by codes: a known row, a queried row; sorted.
  // Returns  Pairs in the same form: row_a is known, row_b is queried.
  // Counts   Landmarks and pictures are those queried.
  // Errors   StoppedError.
  // For one thread at a time; parallel inside.
  Verification ask(std::span<const std::uint32_t> rows, const PictureSource& pictures,
                   std::span<const Edge> near, const VerifyOptions& options = {});

 private:
  KnownLandmarks known_;
  std::size_t searched_;  // searched_count(known_): queries are compared with this many landmarks
  double strangers_;      // non_duplicate_distance(known_)
  PictureSource pictures_;
  std::uint32_t rows_;
  MatchModel model_;
};

}  // namespace winnow::dedup
