#include "dedup/verify/judge.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "common/error.h"
#include "dedup/verify/compared_internal.h"

namespace winnow::dedup {
namespace {

// The eight ways to lay one whole picture on another, the plain one first.
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

// Aligns the contents and, if one was cut, also the whole pictures: a smooth background may pass
// for a frame, and in a brighter copy not.
void take_whole(const Compared& a, const Compared& b, const MatchModel& model, Best& best) {
  const auto take = [&](const Affine& map) {
    if (!best.is_sure()) best.take(register_pictures(a.picture, b.picture, map, a.middle()), model);
  };
  for (const Affine& map : whole_upon_whole(a.picture.picture(), b.picture.picture())) take(map);
  if (a.is_cut() || b.is_cut()) take(in_pixels({.xx = 1, .yy = 1}, a, b));
}

// Whether a picture has enough detail for a difference to show.
bool has_details(const Registrable& picture) {
  double squares = 0;
  for (const float value : picture.details().values) {
    squares += static_cast<double>(value) * value;
  }
  constexpr double kLeastVariance = 2;
  return squares / static_cast<double>(picture.details().values.size()) >= kLeastVariance;
}

// Judges trials on one thread, and reuses the prepared first picture of the last trial.
class Judge {
 public:
  Judge(const PictureSource& pictures, const MatchModel& model)
      : pictures_(pictures), model_(model) {}

  VerifiedPair judge(const Trial& trial) {
    if (!a_ || a_row_ != trial.row_a) a_.emplace(pictures_(trial.row_a));
    a_row_ = trial.row_a;
    const Compared b(pictures_(trial.row_b));
    Best best;
    for (const auto& [of_a, of_b, is_mirrored] : trial.guesses) {
      if (best.is_sure()) break;
      best.take(
          register_pictures(a_->picture, b.picture, map_between(of_a, of_b, is_mirrored), of_a),
          model_);
    }
    if (trial.map) {
      best.take(
          register_pictures(a_->picture, b.picture, in_pixels(*trial.map, *a_, b), a_->middle()),
          model_);
    }
    if (trial.is_near && !best.is_sure()) take_whole(*a_, b, model_, best);
    VerifiedPair pair{.row_a = trial.row_a, .row_b = trial.row_b, .map = {}};
    pair.probability = static_cast<float>(best.probability);
    if (best.registration) pair.map = in_shares(best.registration->map, *a_, b);
    pair.lacks_details = trial.is_near && (!has_details(a_->picture) || !has_details(b.picture));
    return pair;
  }

 private:
  const PictureSource& pictures_;
  const MatchModel& model_;
  std::optional<Compared> a_;
  std::uint32_t a_row_ = 0;
};

}  // namespace

std::vector<VerifiedPair> judge(std::span<const Trial> trials, const PictureSource& pictures,
                                const MatchModel& model, const StopRequested& stop) {
  constexpr std::size_t kOfTask = 32;
  std::vector<VerifiedPair> verdicts(trials.size());
  tbb::parallel_for(std::size_t{0}, (trials.size() + kOfTask - 1) / kOfTask, [&](std::size_t task) {
    Judge judge(pictures, model);
    const std::size_t end = std::min(trials.size(), (task + 1) * kOfTask);
    for (std::size_t i = task * kOfTask; i < end; ++i) {
      if (stop && stop()) throw StoppedError("stopped while pictures were compared");
      verdicts[i] = judge.judge(trials[i]);
    }
  });
  return verdicts;
}

}  // namespace winnow::dedup
