#include "dedup/verify/calibrate.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>

#include "common/error.h"
#include "common/rng.h"
#include "common/statistics.h"
#include "dedup/verify/affine.h"

namespace winnow::dedup {
namespace {

constexpr std::size_t kMostPictures = 160;
constexpr std::size_t kFewPictures = 20;
constexpr std::size_t kStrangersOfPicture = 8;
constexpr int kMostBits = 28;  // between landmarks of different pictures that are tried

// A picture prepared for registration.
struct Sample {
  explicit Sample(const Plane& plane) : landmarks(find_landmarks(plane)), picture(plane) {}

  std::vector<Landmark> landmarks;
  Registrable picture;
};

// The random numbers of an edit.
class Draw {
 public:
  Draw(std::uint64_t seed, std::uint64_t row) : rng_(seed, 1, row, RandomUse::kStudy) {}
  double between(double least, double most) {
    return least + (most - least) * rng_.next_u32() * 0x1p-32;
  }
  bool one_in(double n) { return between(0, n) < 1; }

 private:
  CounterRng rng_;
};

// An overlay: a box of one shade.
struct Cover {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
  double shade = 0;

  bool hides(double x, double y) const { return x >= left && x < right && y >= top && y < bottom; }
};

Cover draw_cover(const Plane& of, Draw& draw) {
  if (!draw.one_in(3)) return {};
  const double area = draw.between(0.05, 0.25);
  const double across = std::min(1.0, std::sqrt(area) * draw.between(0.7, 1.4));
  const double down = std::min(1.0, area / across);
  const double left = draw.between(0, 1 - across) * of.width;
  const double top = draw.between(0, 1 - down) * of.height;
  return {left, top, left + across * of.width, top + down * of.height, draw.between(0, 255)};
}

// Maps a pixel of an edit to the picture: a part of it, rotated and perhaps mirrored.
Affine draw_map(const Plane& of, Draw& draw) {
  const double across = draw.between(0.6, 1);
  const double down = draw.between(0.6, 1);
  const double angle = draw.one_in(3) ? draw.between(-10, 10) * std::numbers::pi / 180 : 0;
  const double mirror = draw.one_in(4) ? -1 : 1;
  const Affine turn{.xx = mirror * across * std::cos(angle),
                    .xy = -down * std::sin(angle),
                    .yx = mirror * across * std::sin(angle),
                    .yy = down * std::cos(angle)};
  // Place the centre of the edit so that its sides stay within the picture, apart from the
  // rotation.
  Affine map = turn;
  const double middle_x = (of.width - 1) / 2.0;
  const double middle_y = (of.height - 1) / 2.0;
  const double to_x = middle_x + draw.between(-0.5, 0.5) * (1 - across) * of.width;
  const double to_y = middle_y + draw.between(-0.5, 0.5) * (1 - down) * of.height;
  map.x0 = to_x - turn.xx * middle_x - turn.xy * middle_y;
  map.y0 = to_y - turn.yx * middle_x - turn.yy * middle_y;
  return map;
}

Plane edited(const Plane& picture, std::uint64_t seed, std::uint32_t row) {
  Draw draw(seed, row);
  const Affine map = draw_map(picture, draw);
  const Cover cover = draw_cover(picture, draw);
  const double gamma = std::exp(draw.between(-0.5, 0.5));
  const double coarse = draw.between(1, 6);  // gray values, like a JPEG's quantisation step
  Plane out = picture;
  for (int y = 0; y < out.height; ++y) {
    for (int x = 0; x < out.width; ++x) {
      double value =
          sample(picture, static_cast<float>(map.x_of(x, y)), static_cast<float>(map.y_of(x, y)));
      value = 255 * std::pow(std::clamp(value, 0.0, 255.0) / 255, gamma);
      if (cover.hides(x, y)) value = cover.shade;
      value += draw.between(-coarse, coarse);
      out.row(y)[x] = static_cast<float>(std::clamp(std::round(value), 0.0, 255.0));
    }
  }
  return out;
}

// Replaces a fifth of a picture, at top or bottom, by that of another, like the bars of screenshots
// and the captions of a series, which different pictures share.
Plane with_strip_of(const Plane& strip, Plane picture, bool is_top) {
  const int rows = picture.height / 5;
  for (int i = 0; i < rows; ++i) {
    const int y = is_top ? i : picture.height - 1 - i;
    const float from = static_cast<float>(is_top ? i : strip.height - 1 - i);
    for (int x = 0; x < picture.width; ++x) {
      const float at = static_cast<float>(x) * static_cast<float>(strip.width) /
                       static_cast<float>(picture.width);
      picture.row(y)[x] = sample(strip, at, from);
    }
  }
  return picture;
}

// Registers by the nearest landmarks of both, at most this many bits apart.
std::optional<Registration> register_samples(const Sample& a, const Sample& b, int most_bits) {
  int nearest = most_bits + 1;
  const Landmark* of_a = nullptr;
  const Landmark* of_b = nullptr;
  bool is_mirrored = false;
  for (const Landmark& one : a.landmarks) {
    for (const bool mirror : {false, true}) {
      const LandmarkCode code = mirror ? mirrored(one.code) : one.code;
      for (const Landmark& other : b.landmarks) {
        const int bits = distance(code, other.code);
        if (bits >= nearest) continue;
        nearest = bits;
        of_a = &one;
        of_b = &other;
        is_mirrored = mirror;
      }
    }
  }
  if (of_a == nullptr) return std::nullopt;
  return register_pictures(a.picture, b.picture, map_between(of_a->place, of_b->place, is_mirrored),
                           of_a->place);
}

std::vector<std::uint32_t> draw_rows(std::span<const std::uint32_t> rows, std::uint64_t seed) {
  std::vector<std::uint32_t> drawn;
  const std::size_t count = std::min(rows.size(), kMostPictures);
  CounterRng rng(seed, 0, rows.size(), RandomUse::kStudy);
  for (std::size_t i = 0; i < count; ++i) {
    // One row of each stretch, so that none is drawn twice.
    const std::size_t begin = i * rows.size() / count;
    const std::size_t end = (i + 1) * rows.size() / count;
    drawn.push_back(rows[begin + (rng.next_u32() * std::uint64_t{end - begin} >> 32)]);
  }
  return drawn;
}

// Fits an exponential to the upper tail of the scores (Pickands 1975).
void measure_tail(std::vector<double> scores, Calibration& result) {
  constexpr double kShare = 0.1;
  if (scores.size() < 20) return;
  std::ranges::sort(scores, std::greater());
  const auto count = static_cast<std::size_t>(kShare * static_cast<double>(scores.size()));
  result.tail_from = scores[count];
  double excess = 0;
  for (std::size_t i = 0; i < count; ++i) excess += scores[i] - result.tail_from;
  result.tail_share = static_cast<double>(count) / static_cast<double>(scores.size());
  result.tail_scale = std::max(excess / static_cast<double>(count), 1e-3);
}

}  // namespace

double Calibration::expected_false(double registered, double least_probability) const noexcept {
  const double score = std::log(least_probability / (1 - least_probability));
  if (score <= tail_from) return registered;
  return registered * tail_share * std::exp(-(score - tail_from) / tail_scale);
}

double Calibration::least_probability(double registered, double most_false) const noexcept {
  if (registered <= most_false) return 0.5;
  const double score =
      tail_from + tail_scale * std::log(std::max(1.0, registered * tail_share / most_false));
  const double probability = 1 / (1 + std::exp(-score));
  return std::clamp(std::ceil(probability * 1e4) / 1e4, 0.5, 0.9999);
}

Calibration calibrate(std::span<const std::uint32_t> rows, const PictureSource& pictures,
                      std::uint64_t seed, const StopRequested& stop) {
  const auto check_stop = [&] {
    if (stop && stop()) throw StoppedError("stopped while edits of some pictures were compared");
  };
  const std::vector<std::uint32_t> drawn = draw_rows(rows, seed);
  std::vector<std::optional<Sample>> samples(drawn.size());
  std::vector<std::optional<Registration>> same(drawn.size());
  tbb::parallel_for(std::size_t{0}, drawn.size(), [&](std::size_t i) {
    check_stop();
    const Plane plane = content_plane(pictures(drawn[i]).view());
    samples[i].emplace(plane);
    if (samples[i]->landmarks.empty()) return;
    same[i] = register_samples(*samples[i], Sample(edited(plane, seed, drawn[i])), kMostBits);
  });
  std::vector<std::optional<Registration>> non_duplicates(drawn.size() * kStrangersOfPicture);
  tbb::parallel_for(std::size_t{0}, non_duplicates.size(), [&](std::size_t k) {
    const std::size_t i = k % drawn.size();
    const std::size_t j = (i + 1 + k / drawn.size()) % drawn.size();
    if (i == j) return;
    check_stop();
    if (k % 2 == 0) {
      non_duplicates[k] = register_samples(*samples[i], *samples[j], kMostBits);
      return;
    }
    const Plane& strip = samples[(i + j) % drawn.size()]->picture.picture();
    const auto with_strip = [&](std::size_t at) {
      return Sample(with_strip_of(strip, samples[at]->picture.picture(), k % 4 == 1));
    };
    non_duplicates[k] = register_samples(with_strip(i), with_strip(j), kMostBits);
  });
  Calibration result{.model = known_model()};
  std::vector<MatchExample> examples;
  for (const auto& registration : same) {
    if (!registration || registration->evidence.overlap < kLeastOverlap) continue;
    examples.push_back({features_of(registration->evidence), true});
    ++result.same;
  }
  for (const auto& registration : non_duplicates) {
    if (!registration || registration->evidence.overlap < kLeastOverlap) continue;
    if (known_model().probability(registration->evidence) > 0.5) continue;
    examples.push_back({features_of(registration->evidence), false});
    ++result.non_duplicates;
  }
  if (result.same >= kFewPictures) result.model = fit_model(examples, /*hold=*/10);
  std::vector<double> of_same;
  std::vector<double> of_strangers;
  for (const MatchExample& example : examples) {
    (example.is_same ? of_same : of_strangers).push_back(result.model.score(example.features));
  }
  if (result.same >= kFewPictures) {
    result.copies = median(std::move(of_same), Middle::kUpper);
  }
  measure_tail(std::move(of_strangers), result);
  return result;
}

double landmarks_a_picture(std::span<const std::uint32_t> rows, const PictureSource& pictures,
                           std::uint64_t seed) {
  const std::vector<std::uint32_t> drawn = draw_rows(rows, seed);
  if (drawn.empty()) return 0;
  return static_cast<double>(LandmarkTable(drawn, pictures).size()) /
         static_cast<double>(drawn.size());
}

}  // namespace winnow::dedup
