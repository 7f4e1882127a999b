#include "dedup/verify/closer_look.h"

#include <oneapi/tbb/parallel_for.h>

#include <atomic>
#include <cmath>

#include "common/error.h"
#include "common/resample.h"
#include "dedup/verify/compared_internal.h"
#include "dedup/verify/match_model.h"

namespace winnow::dedup {
namespace {

bool is_doubtful(const VerifiedPair& pair) {
  return pair.probability >= kLeastDoubtful && pair.probability < kMostDoubtful;
}

void compare(const Image& picture_a, const Image& picture_b, VerifiedPair& pair) {
  const Compared a(picture_a);
  const Compared b(picture_b);
  const auto registration =
      register_pictures(a.picture, b.picture, in_pixels(pair.map, a, b), a.middle());
  pair.probability = 0;
  if (!registration) return;
  pair.probability = static_cast<float>(known_model().probability(registration->evidence));
  pair.map = in_shares(registration->map, a, b);
}

}  // namespace

std::optional<Image> closer_picture(ImageView image) {
  const double pixels = static_cast<double>(image.width_px) * image.height_px;
  if (2 * pixels < kCloserPixels) return std::nullopt;
  Image gray = to_gray(image);
  const double share = std::sqrt(kCloserPixels / pixels);
  if (share >= 1) return gray;
  const auto shorter = [&](int side_px) {
    return std::max(1, static_cast<int>(std::lround(side_px * share)));
  };
  return resize(gray.view(), shorter(image.height_px), shorter(image.width_px),
                ResampleFilter::kBilinear);
}

std::size_t look_closer(std::span<VerifiedPair> pairs, const CloserSource& pictures,
                        const StopRequested& stop) {
  std::atomic<std::size_t> compared = 0;
  tbb::parallel_for(std::size_t{0}, pairs.size(), [&](std::size_t i) {
    if (!is_doubtful(pairs[i])) return;
    if (stop && stop()) throw StoppedError("stopped while larger pictures were compared");
    const auto a = pictures(pairs[i].row_a);
    if (!a) return;
    const auto b = pictures(pairs[i].row_b);
    if (!b) return;
    compare(*a, *b, pairs[i]);
    ++compared;
  });
  return compared;
}

}  // namespace winnow::dedup
