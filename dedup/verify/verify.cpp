#include "dedup/verify/verify.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "common/error.h"

namespace winnow::dedup {
namespace {

// A pair of pictures, and how one might lie upon the other.
struct Candidate {
  std::uint32_t row_a = 0;
  std::uint32_t row_b = 0;
  std::span<const Hit> hits;  // of landmarks; nearest first
  bool is_near = false;       // by codes
};

std::vector<Candidate> candidates_of(std::span<const Hit> hits, std::span<const Edge> near) {
  std::vector<Candidate> pairs;
  auto edge = near.begin();
  const auto take_edges_before = [&](std::pair<std::uint32_t, std::uint32_t> rows) {
    for (; edge != near.end() && std::pair(edge->a, edge->b) < rows; ++edge) {
      pairs.push_back({edge->a, edge->b, {}, true});
    }
  };
  for (std::size_t begin = 0; begin < hits.size();) {
    std::size_t end = begin;
    const std::pair rows{hits[begin].row_a, hits[begin].row_b};
    while (end < hits.size() && std::pair(hits[end].row_a, hits[end].row_b) == rows) ++end;
    take_edges_before(rows);
    const bool is_near = edge != near.end() && std::pair(edge->a, edge->b) == rows;
    if (is_near) ++edge;
    pairs.push_back({rows.first, rows.second, hits.subspan(begin, end - begin), is_near});
    begin = end;
  }
  take_edges_before({~std::uint32_t{0}, ~std::uint32_t{0}});
  return pairs;
}

// The landmarks of the picture that this one is of.
std::pair<std::uint32_t, std::uint32_t> range_around(const LandmarkTable& landmarks,
                                                     std::uint32_t landmark) {
  std::uint32_t begin = landmark;
  std::uint32_t end = landmark + 1;
  while (begin > 0 && landmarks.owner(begin - 1) == landmarks.owner(landmark)) --begin;
  while (end < landmarks.size() && landmarks.owner(end) == landmarks.owner(landmark)) ++end;
  return {begin, end};
}

// Whether a landmark may be the one that is expected there.
bool is_about(const Place& place, const Place& expected) {
  constexpr float kTurn = 2 * std::numbers::pi_v<float>;
  constexpr float kMostTurn = 0.4F;
  constexpr float kMostScale = 1.4F;
  const float reach = 1.5F + 0.5F * place.scale;
  if (std::fabs(place.x - expected.x) > reach || std::fabs(place.y - expected.y) > reach ||
      place.scale > kMostScale * expected.scale || expected.scale > kMostScale * place.scale) {
    return false;
  }
  const float apart = (place.angle - expected.angle) / kTurn;
  return std::fabs(apart - std::round(apart)) * kTurn < kMostTurn;
}

// How many other landmarks of a lie where one of b is that resembles them, once a is laid upon b as
// a hit says; as many as `most` are counted.
int count_supports(const LandmarkTable& landmarks, const Hit& hit, int most) {
  constexpr int kMostBits = 32;
  const auto of_a = range_around(landmarks, hit.landmark_a);
  const auto of_b = range_around(landmarks, hit.landmark_b);
  const Place seed = landmarks.place(hit.landmark_a);
  const Affine map = map_between(seed, landmarks.place(hit.landmark_b), hit.is_mirrored);
  const auto zoom = static_cast<float>(zoom_of(map));
  const auto turn = static_cast<float>(std::atan2(map.yx, map.xx));
  int count = 0;
  for (std::uint32_t i = of_a.first; i < of_a.second && count < most; ++i) {
    const Place place = landmarks.place(i);
    if (std::fabs(place.x - seed.x) + std::fabs(place.y - seed.y) < 1) continue;
    const Place there{.x = static_cast<float>(map.x_of(place.x, place.y)),
                      .y = static_cast<float>(map.y_of(place.x, place.y)),
                      .scale = place.scale * zoom,
                      .angle = turn + (hit.is_mirrored ? -place.angle : place.angle)};
    for (std::uint32_t j = of_b.first; j < of_b.second; ++j) {
      if (!is_about(landmarks.place(j), there)) continue;
      const LandmarkCode code = landmarks.code(i);
      if (distance(hit.is_mirrored ? mirrored(code) : code, landmarks.code(j)) > kMostBits) {
        continue;
      }
      ++count;
      break;
    }
  }
  return count;
}

// The eight ways to lay one whole picture upon another, the plain one first.
std::array<Affine, 8> whole_upon_whole(const Plane& a, const Plane& b) {
  std::array<Affine, 8> maps{};
  for (std::size_t k = 0; k < maps.size(); ++k) {
    const bool is_turned = (k & 4) != 0;
    const double from_x = is_turned ? a.height : a.width;
    const double from_y = is_turned ? a.width : a.height;
    const double across = (k & 1) != 0 ? -b.width / from_x : b.width / from_x;
    const double down = (k & 2) != 0 ? -b.height / from_y : b.height / from_y;
    Affine map{.xx = is_turned ? 0 : across,
               .xy = is_turned ? across : 0,
               .yx = is_turned ? down : 0,
               .yy = is_turned ? 0 : down};
    map.x0 = (b.width - 1) / 2.0 - map.xx * (a.width - 1) / 2.0 - map.xy * (a.height - 1) / 2.0;
    map.y0 = (b.height - 1) / 2.0 - map.yx * (a.width - 1) / 2.0 - map.yy * (a.height - 1) / 2.0;
    maps[k] = map;
  }
  return maps;
}

// A picture that is compared: the content of a thumbnail.
struct Compared {
  explicit Compared(const Image& thumbnail)
      : box(content_of(thumbnail.view())),
        width_px(thumbnail.width_px),
        height_px(thumbnail.height_px),
        picture(plane_of(part_of(thumbnail.view(), box))) {}

  // From shares of the sides of the whole picture to pixels of the plane.
  Affine from_shares() const {
    const double across = static_cast<double>(picture.picture().width) / box.width_px;
    const double down = static_cast<double>(picture.picture().height) / box.height_px;
    return {.xx = across * width_px,
            .x0 = -across * box.left - 0.5,
            .yy = down * height_px,
            .y0 = -down * box.top - 0.5};
  }

  Box box;
  int width_px;
  int height_px;
  Registrable picture;
};

Affine in_shares(const Affine& map, const Compared& a, const Compared& b) {
  return after(inverse(b.from_shares()), after(map, a.from_shares()));
}

// The best registration so far.
struct Best {
  std::optional<Registration> registration;
  double probability = 0;

  void take(std::optional<Registration> other, const MatchModel& model) {
    if (!other) return;
    const double with = model.probability(other->evidence);
    if (registration && with <= probability) return;
    registration = std::move(other);
    probability = with;
  }
  bool is_sure() const { return probability > 0.99; }
};

// Judges the candidates of one thread, and keeps what the last one made of its first picture.
class Judge {
 public:
  Judge(const LandmarkTable& landmarks, const PictureSource& pictures, const MatchModel& model)
      : landmarks_(landmarks), pictures_(pictures), model_(model) {}

  struct Verdict {
    bool is_registered = false;
    VerifiedPair pair;
  };
  Verdict judge(const Candidate& candidate) {
    Verdict verdict{.pair = {.row_a = candidate.row_a, .row_b = candidate.row_b, .map = {}}};
    const std::vector<Hit> hits = worth_trying(candidate.hits);
    if (hits.empty() && !candidate.is_near) return verdict;
    verdict.is_registered = true;
    if (!a_ || a_row_ != candidate.row_a) a_.emplace(pictures_(candidate.row_a));
    a_row_ = candidate.row_a;
    const Compared b(pictures_(candidate.row_b));
    Best best;
    for (const Hit& hit : hits) {
      if (best.is_sure()) break;
      const Place around = landmarks_.place(hit.landmark_a);
      best.take(register_pictures(
                    a_->picture, b.picture,
                    map_between(around, landmarks_.place(hit.landmark_b), hit.is_mirrored), around),
                model_);
    }
    if (candidate.is_near && !best.is_sure()) take_whole(a_->picture, b.picture, model_, best);
    verdict.pair.probability = static_cast<float>(best.probability);
    if (best.registration) {
      verdict.pair.map = in_shares(best.registration->map, *a_, b);
    }
    verdict.pair.lacks_details =
        candidate.is_near && (!has_details(a_->picture) || !has_details(b.picture));
    return verdict;
  }

  static void take_whole(const Registrable& a, const Registrable& b, const MatchModel& model,
                         Best& best) {
    const Place middle{.x = static_cast<float>(a.picture().width - 1) / 2,
                       .y = static_cast<float>(a.picture().height - 1) / 2};
    for (const Affine& map : whole_upon_whole(a.picture(), b.picture())) {
      if (best.is_sure()) return;
      best.take(register_pictures(a, b, map, middle), model);
    }
  }

 private:
  // Hits that other landmarks support, those with most support first.
  std::vector<Hit> worth_trying(std::span<const Hit> hits) const {
    constexpr int kVeryNear = 9;  // bits; few strangers are
    constexpr int kMostSupport = 8;
    std::vector<std::pair<int, Hit>> supported;
    for (const Hit& hit : hits) {
      const int support = count_supports(landmarks_, hit, kMostSupport);
      if (support >= (hit.distance <= kVeryNear ? 1 : 2)) supported.emplace_back(-support, hit);
    }
    std::ranges::stable_sort(supported, {}, [](const auto& pair) { return pair.first; });
    std::vector<Hit> best;
    for (const auto& [support, hit] : supported) best.push_back(hit);
    return best;
  }
  // Whether there is enough in a picture for a difference to show.
  static bool has_details(const Registrable& picture) {
    double squares = 0;
    for (const float value : picture.details().values) {
      squares += static_cast<double>(value) * value;
    }
    constexpr double kLeastVariance = 2;
    return squares / static_cast<double>(picture.details().values.size()) >= kLeastVariance;
  }

  const LandmarkTable& landmarks_;
  const PictureSource& pictures_;
  const MatchModel& model_;
  std::optional<Compared> a_;
  std::uint32_t a_row_ = 0;
};

// Puts what a block of candidates came to behind what those before did.
void add_up(std::span<const Judge::Verdict> verdicts, std::span<const Candidate> candidates,
            double least, Verification& out) {
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    out.counts.registered += verdicts[i].is_registered ? 1 : 0;
    if (verdicts[i].pair.probability >= least) {
      out.pairs.push_back(verdicts[i].pair);
    } else if (verdicts[i].pair.lacks_details) {
      out.undecided.push_back({candidates[i].row_a, candidates[i].row_b, 0});
    }
  }
}

}  // namespace

Verification verify(std::span<const std::uint32_t> rows, const PictureSource& pictures,
                    std::span<const Edge> near, const MatchModel& model,
                    const VerifyOptions& options) {
  const LandmarkTable landmarks =
      options.landmarks ? options.landmarks(rows) : LandmarkTable(rows, pictures, options.search);
  const std::vector<std::uint32_t> searched =
      searched_landmarks(landmarks, 0, static_cast<std::uint32_t>(landmarks.size()));
  const HitRadius radius =
      hit_radius(searched.size(), options.hits_a_picture * static_cast<double>(rows.size()),
                 stranger_distance(landmarks, searched));
  const std::vector<Hit> hits = find_hits(landmarks, searched, radius.bits, options.search);
  Verification out = verify_hits(landmarks, hits, pictures, near, model, options);
  out.counts.pictures = rows.size();
  out.counts.landmarks = landmarks.size();
  out.counts.radius = radius.bits;
  return out;
}

Verification verify_hits(const LandmarkTable& landmarks, std::span<const Hit> hits,
                         const PictureSource& pictures, std::span<const Edge> near,
                         const MatchModel& model, const VerifyOptions& options) {
  constexpr std::size_t kOfTask = 64;
  constexpr std::size_t kAtOnce = 512 * kOfTask;
  const std::vector<Candidate> candidates = candidates_of(hits, near);
  Verification out;
  out.counts.candidates = candidates.size();
  std::vector<Judge::Verdict> verdicts;
  for (std::size_t begin = 0; begin < candidates.size(); begin += kAtOnce) {
    const std::size_t count = std::min(kAtOnce, candidates.size() - begin);
    verdicts.assign(count, {});
    tbb::parallel_for(std::size_t{0}, (count + kOfTask - 1) / kOfTask, [&](std::size_t task) {
      Judge judge(landmarks, pictures, model);
      const std::size_t end = std::min(count, (task + 1) * kOfTask);
      for (std::size_t i = task * kOfTask; i < end; ++i) {
        if (options.search.stop && options.search.stop()) {
          throw StoppedError("stopped while pictures were compared");
        }
        verdicts[i] = judge.judge(candidates[begin + i]);
      }
    });
    add_up(verdicts, std::span(candidates).subspan(begin, count), options.least_probability, out);
    if (options.search.progress) options.search.progress({begin + count, candidates.size(), {}});
  }
  out.counts.verified = out.pairs.size();
  return out;
}

}  // namespace winnow::dedup
