#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "dedup/verify/verify.h"

namespace winnow::dedup {

// What gives something of rows of two sources, those that are asked numbered behind `rows` that are
// known.
template <class Source>
Source of_both(Source known, Source asked, std::uint32_t rows) {
  return
      [known = std::move(known), asked = std::move(asked), rows](std::uint32_t row, auto... more) {
        return row < rows ? known(row, more...) : asked(row - rows, more...);
      };
}

// Many pictures whose landmarks are known, of which others are asked.
class PictureQuery {
 public:
  // `known`: landmarks of rows of `pictures`, all below `rows`.
  PictureQuery(KnownLandmarks known, PictureSource pictures, std::uint32_t rows, MatchModel model);

  // The pairs of a known picture and one asked that show one picture, as verify() says of both
  // together: the same steps, with as many hits allowed a picture that is asked.
  //
  // near     pairs by codes: a row that is known, a row that is asked; sorted
  // Returns  pairs of the same form: row_a is known, row_b is asked
  // Counts   landmarks and pictures: of those asked
  // Throws   StoppedError
  // For one thread at a time; parallel inside.
  Verification ask(std::span<const std::uint32_t> rows, const PictureSource& pictures,
                   std::span<const Edge> near, const VerifyOptions& options = {});

 private:
  KnownLandmarks known_;
  std::size_t searched_;  // landmarks of them
  double strangers_;      // stranger_distance() of them
  PictureSource pictures_;
  std::uint32_t rows_;
  MatchModel model_;
};

}  // namespace winnow::dedup
