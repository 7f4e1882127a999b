#include "app/experiment/compare.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "app/experiment/fold_places.h"
#include "app/page/html.h"
#include "common/error.h"

namespace winnow::app {
namespace {

constexpr const char* kSeed = "recipe.seed";
constexpr const char* kSelection = "data.selection";

std::map<std::string, std::string> settings_but_seed(const ComparedRun& run) {
  std::map<std::string, std::string> settings = run.settings;
  settings.erase(kSeed);
  return settings;
}

std::vector<std::vector<std::size_t>> recipes_of(const std::vector<ComparedRun>& runs) {
  std::vector<std::map<std::string, std::string>> seen;
  std::vector<std::vector<std::size_t>> recipes;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    auto settings = settings_but_seed(runs[i]);
    const auto at = std::ranges::find(seen, settings);
    if (at != seen.end()) {
      recipes[static_cast<std::size_t>(at - seen.begin())].push_back(i);
      continue;
    }
    seen.push_back(std::move(settings));
    recipes.push_back({i});
  }
  if (recipes.size() > 1) return recipes;
  recipes.clear();
  for (std::size_t i = 0; i < runs.size(); ++i) recipes.push_back({i});
  return recipes;
}

std::vector<bool> right_of(const ComparedRun& run) {
  std::vector<bool> right(run.ids.size());
  for (std::size_t i = 0; i < right.size(); ++i) right[i] = run.labels[i] == run.predictions[i];
  return right;
}

std::vector<RunPair> pairs_of(const std::vector<ComparedRun>& runs,
                              const std::vector<std::size_t>& first,
                              const std::vector<std::size_t>& other) {
  std::vector<RunPair> pairs;
  if (first.size() == 1 && other.size() == 1) {
    pairs.push_back({first.front(), other.front()});
  } else {
    for (const std::size_t run : other) {
      const auto same =
          std::ranges::find(first, runs[run].seed(), [&](std::size_t i) { return runs[i].seed(); });
      if (same != first.end()) pairs.push_back({*same, run});
    }
  }
  for (RunPair& pair : pairs) {
    pair.hits = count_hits(right_of(runs[pair.first]), right_of(runs[pair.other]));
    pair.p = mcnemar(pair.hits);
    pair.difference = share_difference(pair.hits);
  }
  return pairs;
}

// Accuracies of the first recipe and of another that are paired, as paired_difference() takes them.
struct Paired {
  std::vector<double> first;
  std::vector<double> other;
  double resolution = 0;
  double shared = 0;
};

Paired by_seed(const std::vector<RunPair>& pairs) {
  const auto images = static_cast<double>(pairs.front().hits.images());
  Paired paired{.first = {}, .other = {}, .resolution = 1 / images};
  for (const RunPair& pair : pairs) {
    paired.first.push_back(static_cast<double>(pair.hits.both + pair.hits.only_a) / images);
    paired.other.push_back(static_cast<double>(pair.hits.both + pair.hits.only_b) / images);
  }
  return paired;
}

// Pairs of folds in the order of the folds, with means over the pairs of runs.
std::vector<FoldPair> folds_of(const std::vector<ComparedRun>& runs,
                               const std::vector<RunPair>& pairs) {
  std::map<std::uint32_t, FoldPair> folds;
  if (pairs.empty()) return {};
  for (const std::uint32_t fold : runs[pairs.front().first].folds) ++folds[fold].images;
  const auto add = [&](const ComparedRun& run, double FoldPair::*share) {
    for (std::size_t i = 0; i < run.folds.size(); ++i) {
      FoldPair& fold = folds[run.folds[i]];
      if (run.labels[i] != run.predictions[i]) continue;
      fold.*share += 1 / (static_cast<double>(fold.images) * static_cast<double>(pairs.size()));
    }
  };
  for (const RunPair& pair : pairs) {
    add(runs[pair.first], &FoldPair::first);
    add(runs[pair.other], &FoldPair::other);
  }
  std::vector<FoldPair> out;
  for (auto& [number, fold] : folds) {
    fold.fold = number;
    out.push_back(fold);
  }
  return out;
}

// For two folds or more.
Paired by_fold(const std::vector<FoldPair>& folds) {
  Paired paired;
  double images = 0;
  for (const FoldPair& fold : folds) {
    paired.first.push_back(fold.first);
    paired.other.push_back(fold.other);
    images += static_cast<double>(fold.images);
  }
  const auto count = static_cast<double>(folds.size());
  paired.resolution = count / images;
  paired.shared = 1 / (count - 1);
  return paired;
}

PairedDifference difference_of(const Paired& of) {
  return paired_difference(of.first, of.other, kConfidence, of.resolution, of.shared);
}

// p of this recipe alone.
ComparisonWithFirst versus_first(const std::vector<ComparedRun>& runs, const Comparison& comparison,
                                 std::size_t recipe) {
  ComparisonWithFirst out{
      .recipe = recipe,
      .pairs = pairs_of(runs, comparison.recipes.front(), comparison.recipes[recipe])};
  out.folds = folds_of(runs, out.pairs);
  if (out.folds.size() > 1) {
    out.over_folds = difference_of(by_fold(out.folds));
    out.p = out.over_folds->p;
  } else if (out.pairs.size() > 1) {
    out.over_seeds = difference_of(by_seed(out.pairs));
    out.p = out.over_seeds->p;
  } else if (out.pairs.size() == 1) {
    out.p = out.pairs.front().p;
  }
  return out;
}

// The p-value of a loss of `margin`, of this recipe alone. Nothing: it has no pair.
std::optional<double> p_of_margin(const ComparisonWithFirst& beside, double margin) {
  if (beside.pairs.empty()) return std::nullopt;
  if (!beside.over_folds && !beside.over_seeds) {
    return p_no_loss(beside.pairs.front().hits, margin);
  }
  const Paired of = beside.over_folds ? by_fold(beside.folds) : by_seed(beside.pairs);
  return p_no_loss(of.first, of.other, margin, of.resolution, of.shared);
}

void correct_by_holm(std::optional<double> margin, std::vector<ComparisonWithFirst>& others) {
  std::vector<std::optional<double>> p;
  std::vector<std::optional<double>> p_of_margins;
  for (const ComparisonWithFirst& other : others) {
    p.push_back(other.p);
    p_of_margins.push_back(margin ? p_of_margin(other, *margin) : std::nullopt);
  }
  const auto corrected = holm_of_known(p);
  const auto verdicts = judge_losses(p_of_margins);
  const auto recipes = static_cast<std::size_t>(
      std::ranges::count_if(p, [](const auto& one) { return one.has_value(); }));
  for (std::size_t i = 0; i < others.size(); ++i) {
    others[i].p = corrected[i];
    if (verdicts[i]) others[i].loss = verdicts[i]->loss;
    others[i].corrected_for = recipes;
  }
}

double share_right(const std::vector<std::vector<bool>>& right,
                   const std::vector<std::size_t>& runs, std::size_t image) {
  double count = 0;
  for (const std::size_t run : runs) count += right[run][image] ? 1 : 0;
  return count / static_cast<double>(runs.size());
}

std::string points(double share) { return fmt::format("{:+.2f}", 100 * share); }

// A difference in accuracy, and what it is averaged over.
struct MeanDifference {
  double mean = 0;
  Interval interval;
  std::string over;
};

MeanDifference mean_difference_of(const ComparisonWithFirst& beside) {
  if (const auto& folds = beside.over_folds) {
    return {
        folds->mean, *folds->interval,
        fmt::format("{} folds, corrected for the training images that they share", folds->pairs)};
  }
  if (const auto& seeds = beside.over_seeds) {
    return {seeds->mean, *seeds->interval, fmt::format("{} seeds", seeds->pairs)};
  }
  const PairedHits& hits = beside.pairs.front().hits;
  const double gained = static_cast<double>(hits.only_b) - static_cast<double>(hits.only_a);
  return {gained / static_cast<double>(hits.images()), beside.pairs.front().difference,
          "the images of one pair of runs"};
}

}  // namespace

std::uint64_t ComparedRun::right() const {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) count += labels[i] == predictions[i] ? 1 : 0;
  return count;
}

std::string ComparedRun::seed() const {
  const auto at = settings.find(kSeed);
  return at == settings.end() ? "" : at->second;
}

std::size_t keep_common_images(std::vector<ComparedRun>& runs) {
  using Place = std::pair<SampleId, std::uint32_t>;  // an image and its fold
  const auto place = [](const ComparedRun& run, std::size_t i) {
    return Place(run.ids[i], run.folds.empty() ? 0 : run.folds[i]);
  };
  const auto places_of = [&](const ComparedRun& run) {
    std::vector<Place> places;
    for (std::size_t i = 0; i < run.ids.size(); ++i) places.push_back(place(run, i));
    return places;
  };
  std::vector<Place> common = places_of(runs.front());
  std::size_t most = 0;
  for (const ComparedRun& run : runs) {
    std::vector<Place> both;
    std::ranges::set_intersection(common, places_of(run), std::back_inserter(both));
    common = std::move(both);
    most = std::max(most, run.ids.size());
  }
  if (common.empty()) {
    throw UsageError(
        "the runs have no image of that split in common, so nothing can be compared; evaluate all "
        "runs on the same split with --split");
  }
  for (ComparedRun& run : runs) {
    std::size_t left = 0;
    for (std::size_t i = 0; i < run.ids.size(); ++i) {
      if (left == common.size() || place(run, i) != common[left]) continue;
      run.ids[left] = run.ids[i];
      run.labels[left] = run.labels[i];
      if (!run.folds.empty()) run.folds[left] = run.folds[i];
      run.predictions[left++] = run.predictions[i];
    }
    run.ids.resize(left);
    run.labels.resize(left);
    run.predictions.resize(left);
    if (!run.folds.empty()) run.folds.resize(left);
  }
  return most - common.size();
}

Comparison compare(const std::vector<ComparedRun>& runs, std::optional<double> margin) {
  Comparison comparison{
      .images = runs.front().ids.size(), .recipes = recipes_of(runs), .others = {}};
  for (std::size_t recipe = 1; recipe < comparison.recipes.size(); ++recipe) {
    comparison.others.push_back(versus_first(runs, comparison, recipe));
  }
  correct_by_holm(margin, comparison.others);
  return comparison;
}

ComparedRun join_folds(const std::vector<ComparedRun>& folds, std::string name) {
  ComparedRun joined{.name = std::move(name),
                     .settings = folds.front().settings,
                     .ids = {},
                     .labels = {},
                     .predictions = {}};
  std::erase_if(joined.settings, [&](const auto& setting) {
    return !std::ranges::all_of(folds, [&](const ComparedRun& fold) {
      const auto at = fold.settings.find(setting.first);
      return at != fold.settings.end() && at->second == setting.second;
    });
  });
  if (const auto at = folds.front().settings.find(kSelection);
      at != folds.front().settings.end() && at->second.ends_with("-1")) {
    joined.settings[kSelection] = at->second.substr(0, at->second.size() - 2);
  }
  for (const FoldPlace& place : places_by_id(folds)) {
    joined.ids.push_back(place.id);
    joined.labels.push_back(folds[place.fold].labels[place.sample]);
    joined.predictions.push_back(folds[place.fold].predictions[place.sample]);
    joined.folds.push_back(place.fold + 1);
  }
  return joined;
}

DifferingImages differing_images(const std::vector<ComparedRun>& runs, const Comparison& comparison,
                                 std::size_t recipe) {
  std::vector<std::vector<bool>> right;
  for (const ComparedRun& run : runs) right.push_back(right_of(run));
  DifferingImages found;
  for (std::size_t i = 0; i < comparison.images; ++i) {
    const DifferingImage image{i, share_right(right, comparison.recipes.front(), i),
                               share_right(right, comparison.recipes[recipe], i)};
    if (image.other > image.first) found.gained.push_back(image);
    if (image.other < image.first) found.lost.push_back(image);
  }
  std::ranges::stable_sort(found.gained, [](const DifferingImage& a, const DifferingImage& b) {
    return a.other - a.first > b.other - b.first;
  });
  std::ranges::stable_sort(found.lost, [](const DifferingImage& a, const DifferingImage& b) {
    return a.first - a.other > b.first - b.other;
  });
  return found;
}

std::string what_differs(const ComparedRun& first, const ComparedRun& other) {
  std::map<std::string, std::pair<std::string, std::string>> both;
  for (const auto& [name, value] : first.settings) both[name].first = value;
  for (const auto& [name, value] : other.settings) both[name].second = value;
  std::string text;
  std::size_t count = 0;
  for (const auto& [name, values] : both) {
    if (name == kSeed || values.first == values.second) continue;
    if (++count > 5) continue;
    const auto said = [](const std::string& value) {
      return value.empty() ? std::string("not set") : shown_short(value);
    };
    text += fmt::format("{}{} {}, here {}", text.empty() ? "" : "; ", shown_short(name),
                        said(values.first), said(values.second));
  }
  if (count > 5) text += fmt::format("; and {} more", count - 5);
  return text.empty() ? "only the seed differs" : text;
}

std::string in_words(const ComparisonWithFirst& beside, std::optional<double> margin) {
  if (beside.pairs.empty()) {
    return "no two runs have one seed, so none are paired; train both recipes with the same seeds";
  }
  const MeanDifference difference = mean_difference_of(beside);
  std::string text = fmt::format("{} points ({} to {} with 95 % confidence), p {:.3g}, over {}",
                                 points(difference.mean), points(difference.interval.least),
                                 points(difference.interval.most), *beside.p, difference.over);
  if (beside.loss) {
    const std::string points_of_margin = fmt::format("{:.2f} points", 100 * *margin);
    text += *beside.loss == Loss::kNone ? ": no loss of " + points_of_margin + " or more"
            : *beside.loss == Loss::kSome
                ? ": a loss of more than " + points_of_margin
                : ": a loss of " + points_of_margin + " is neither shown nor excluded; try more " +
                      (beside.over_folds ? "folds" : "seeds") + " tell";
  }
  if (beside.corrected_for > 1) {
    text += fmt::format("; p{} corrected for {} recipes by Holm",
                        beside.loss ? " and this verdict are" : " is", beside.corrected_for);
  }
  if (!beside.over_folds && !beside.over_seeds) {
    text +=
        "; this compares two nets only. Another seed may differ by as much: compare recipes over "
        "several seeds";
  }
  return text;
}

}  // namespace winnow::app
