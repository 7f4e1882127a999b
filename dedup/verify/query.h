#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "dedup/verify/verify.h"

namespace winnow::dedup {

// Combines two sources, such as of thumbnails: row numbers below `rows` are taken from `known`,
// higher ones from `asked`.
template <class Source>
Source of_both(Source known, Source asked, std::uint32_t rows) {
  return
      [known = std::move(known), asked = std::move(asked), rows](std::uint32_t row, auto... more) {
        return row < rows ? known(row, more...) : asked(row - rows, more...);
      };
}

// Pictures whose landmarks (keypoints) were computed earlier, called known, to be queried with
// other pictures.
class PictureQuery {
 public:
  // known  Landmarks of some rows of `pictures`. These rows are numbered below `rows`.
  PictureQuery(KnownLandmarks known, PictureSource pictures, std::uint32_t rows, MatchModel model);

  // Finds the pairs of a known and a queried picture that show the same picture. Same steps as
  // verify() on both sets together, with the same number of hits allowed for each queried picture.
  //
  // near     Pairs of a known row and a queried row that are near by hash codes; sorted.
  // Returns  Pairs in which row_a is known and row_b is queried.
  // Counts   Numbers of landmarks and pictures are those of the queried pictures.
  // Errors   StoppedError.
  // Threads  Call it from one thread at a time; it is parallel inside.
  Verification ask(std::span<const std::uint32_t> rows, const PictureSource& pictures,
                   std::span<const Edge> near, const VerifyOptions& options = {});

 private:
  KnownLandmarks known_;
  std::size_t searched_;  // number of known landmarks that queries are compared with
  double strangers_;      // non_duplicate_distance(known_)
  PictureSource pictures_;
  std::uint32_t rows_;
  MatchModel model_;
};

}  // namespace winnow::dedup
