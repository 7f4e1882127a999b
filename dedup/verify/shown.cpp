#include "dedup/verify/shown.h"

#include <tbb/parallel_for.h>

#include <cstddef>

#include "dedup/verify/compared_internal.h"
#include "dedup/verify/differences.h"
#include "dedup/verify/judge.h"

namespace winnow::dedup {
namespace {

bool is_shown(const VerifiedPair& pair, const PictureSource& pictures) {
  const Compared a(pictures(pair.row_a));
  const Compared b(pictures(pair.row_b));
  return is_copy_by_thumbnails(
      differences_between(a.picture, b.picture, in_pixels(pair.map, a, b)));
}

}  // namespace

std::vector<bool> are_shown(std::span<const Edge> pairs, const PictureSource& pictures,
                            const StopRequested& stop) {
  std::vector<Trial> trials;
  trials.reserve(pairs.size());
  for (const Edge& pair : pairs) {
    trials.push_back({.row_a = pair.a, .row_b = pair.b, .is_near = true});
  }
  const std::vector<VerifiedPair> judged = judge(trials, pictures, known_model(), stop);
  std::vector<char> shown(pairs.size());
  tbb::parallel_for(std::size_t{0}, judged.size(), [&](std::size_t i) {
    const VerifiedPair& pair = judged[i];
    shown[i] = !pair.lacks_details && pair.probability >= 0.5F && is_shown(pair, pictures);
  });
  return {shown.begin(), shown.end()};
}

}  // namespace winnow::dedup
