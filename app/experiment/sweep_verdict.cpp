#include "app/experiment/sweep_verdict.h"

#include <fmt/core.h>

#include <algorithm>

#include "app/experiment/figures.h"
#include "app/words.h"

namespace winnow::app {
namespace {

bool may_be_recommended(const SweepArm& arm, const ArmResult& result) {
  return !arm.is_control() && arm.facts.classes_gone == 0 && result.failures.empty() &&
         result.runs() > 0;
}

std::optional<std::size_t> hardest(const std::vector<SweepArm>& arms,
                                   const std::vector<ArmResult>& results) {
  std::optional<std::size_t> best;
  for (std::size_t i = 1; i < arms.size(); ++i) {
    if (arms[i].removed == 0 || results[i].loss != Loss::kNone ||
        !may_be_recommended(arms[i], results[i])) {
      continue;
    }
    const bool better = !best || arms[i].removed > arms[*best].removed ||
                        (arms[i].removed == arms[*best].removed &&
                         arms[i].images_seen() < arms[*best].images_seen());
    if (better) best = i;
  }
  return best;
}

// Arms that keep few enough images, most accurate first.
std::vector<std::size_t> small_ones(const std::vector<SweepArm>& arms,
                                    const std::vector<ArmResult>& results, std::uint64_t most) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    if (arms[i].kept <= most && may_be_recommended(arms[i], results[i])) places.push_back(i);
  }
  std::ranges::stable_sort(places, [&](std::size_t a, std::size_t b) {
    if (results[a].mean != results[b].mean) return results[a].mean > results[b].mean;
    return arms[a].images_seen() < arms[b].images_seen();
  });
  return places;
}

// " (+0.12, -0.30 to +0.54, 3 seeds)", in points.
std::string difference_in_brackets(const PairedDifference& difference) {
  return fmt::format(" ({}, {} {})", in_points(difference), difference.pairs,
                     difference.pairs == 1 ? "seed" : "seeds");
}

std::string versus_control(const ArmResult& result) {
  if (!result.p_control) return "";
  if (*result.p_control > 0.05) {
    return "; it was not shown to be better than removing as many at random";
  }
  return result.versus_control->mean > 0 ? "; it is better than removing as many at random"
                                         : "; removing as many at random is better";
}

std::string of_points(std::size_t points) {
  return points > 1 ? fmt::format(", corrected for {} points by Holm", grouped(points)) : "";
}

std::string why_small(const std::vector<SweepArm>& arms, const std::vector<ArmResult>& results,
                      const SweepJudge& judge) {
  const std::vector<std::size_t> places = small_ones(arms, results, *judge.most_images);
  if (places.empty()) {
    return fmt::format(
        "nothing is recommended: no point that keeps at most {} images has all its "
        "runs and all classes",
        grouped(*judge.most_images));
  }
  const std::size_t best = places.front();
  std::string text = fmt::format(
      "take {} at equal {}: with {} images it is the most accurate, {}, of "
      "the {} that keep at most {}",
      arms[best].name, arms[best].budget, grouped(arms[best].kept), percent(results[best].mean),
      grouped(places.size()), grouped(*judge.most_images));
  if (const auto& loss = results[best].versus_all)
    text += "; compared with all" + difference_in_brackets(*loss);
  text += versus_control(results[best]);
  if (places.size() > 1) {
    const std::size_t next = places[1];
    text += fmt::format("; the next is {} at equal {}, {}", arms[next].name, arms[next].budget,
                        percent(results[next].mean));
  }
  return text;
}

// Why it is better to keep all.
std::string why_none(const std::vector<SweepArm>& arms, const std::vector<ArmResult>& results,
                     const SweepJudge& judge) {
  std::string text = fmt::format("keep all: no point was shown to lose less than {:.2f} points{}",
                                 100 * judge.margin, of_points(points_of(arms)));
  for (std::size_t i = 1; i < arms.size(); ++i) {
    if (!results[i].passes_alone || arms[i].is_control()) continue;
    return text +
           fmt::format("; {} alone would pass, so try fewer points, or more --seeds", arms[i].name);
  }
  return text + "; more --seeds, or a wider --margin, may show one";
}

}  // namespace

std::optional<std::size_t> recommend(const std::vector<SweepArm>& arms,
                                     const std::vector<ArmResult>& results,
                                     const SweepJudge& judge) {
  if (!judge.most_images) return hardest(arms, results);
  const std::vector<std::size_t> places = small_ones(arms, results, *judge.most_images);
  if (places.empty()) return std::nullopt;
  return places.front();
}

std::string recommendation(const std::vector<SweepArm>& arms, const std::vector<ArmResult>& results,
                           const SweepJudge& judge) {
  if (results.front().runs() == 0) {
    return "nothing is recommended: no run on all samples finished";
  }
  if (judge.most_images) return why_small(arms, results, judge);
  const bool judged =
      std::ranges::any_of(results, [](const ArmResult& result) { return result.loss.has_value(); });
  if (!judged) {
    return "nothing is recommended: with one seed, a difference cannot be told from chance; give "
           "--seeds 3 or more";
  }
  const std::optional<std::size_t> best = hardest(arms, results);
  if (!best) return why_none(arms, results, judge);
  const ArmResult& result = results[*best];
  return fmt::format(
      "take {} at equal {}: it removes {:.1f} % and loses less than {:.2f} points{}{}{}",
      arms[*best].name, arms[*best].budget, 100 * arms[*best].removed_share(), 100 * judge.margin,
      difference_in_brackets(*result.versus_all), of_points(points_of(arms)),
      versus_control(result));
}

std::vector<SweepArm> without_lost(std::vector<SweepArm> arms, const SweepJudge& judge,
                                   std::size_t seeds, const OutcomeOf& outcome_of) {
  if (judge.most_images) return arms;
  std::vector<SweepArm> begun = arms;
  for (SweepArm& arm : begun) arm.jobs.resize(std::min(arm.jobs.size(), seeds));
  const std::vector<ArmResult> results = results_of(begun, judge, outcome_of);
  const auto has_lost = [&](std::size_t i) {
    const auto& beside = results[i].versus_all;
    return beside && beside->interval && beside->interval->most < -judge.margin;
  };
  const auto is_harder = [&](const SweepArm& arm, const SweepArm& other) {
    return !other.is_control() && other.series == arm.series && other.budget == arm.budget &&
           other.removed < arm.removed;
  };
  std::vector<bool> stops(arms.size());
  for (std::size_t i = 1; i < arms.size(); ++i) {
    if (arms[i].is_control() || !has_lost(i)) continue;
    for (std::size_t k = 1; k < arms.size(); ++k) {
      if (is_harder(arms[i], arms[k]) && has_lost(k)) stops[i] = true;
    }
  }
  for (std::size_t i = 1; i < arms.size(); ++i) {
    if (!arms[i].is_control()) continue;
    stops[i] = true;
    for (std::size_t k = 1; k < arms.size(); ++k) {
      if (arms[k].control == i && !stops[k] && !arms[k].stopped_after) stops[i] = false;
    }
  }
  for (std::size_t i = 1; i < arms.size(); ++i) {
    if (!stops[i] || arms[i].jobs.size() <= seeds) continue;
    arms[i].jobs.resize(seeds);
    arms[i].stopped_after = seeds;
  }
  return arms;
}

}  // namespace winnow::app
