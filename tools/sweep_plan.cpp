#include "tools/sweep_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/bytes.h"
#include "common/checksum.h"
#include "common/error.h"
#include "common/json_reader.h"
#include "dedup/hash/hashes.h"
#include "dedup/settings.h"
#include "dedup/split/split.h"
#include "dedup/sweep/control.h"
#include "dedup/sweep/trim.h"
#include "pipeline/store/cache.h"
#include "tools/choice_flags.h"
#include "tools/dedup_search.h"

namespace winnow::tools {
namespace {

using dedup::Selection;
using dedup::SweepPoint;

// What all points have in common.
struct SweepData {
  const pipeline::Cache& cache;
  dedup::ColumnSource columns;
  dedup::LinkSource search;
  dedup::Fingerprints table;  // splits, labels
  Selection base;             // thins nothing; val is held out, test is in no split
  std::uint64_t training = 0;
  bool estimates = false;  // nothing but the base is written

  bool trains(std::size_t row) const noexcept {
    return base.splits[row] == Split::kTrain && base.weights[row] > 0;
  }
};

// The same columns with some splits changed.
dedup::ColumnSource with_splits(const dedup::ColumnSource& columns,
                                const std::function<Split(std::size_t row, Split own)>& split_of) {
  return [columns, split_of](const dedup::ColumnNames& names) {
    dedup::Fingerprints table = columns(names);
    for (std::size_t row = 0; row < table.splits.size(); ++row) {
      table.splits[row] = split_of(row, table.splits[row]);
    }
    return table;
  };
}

Selection hold_out(const SweepOptions& o, const Session& session, const pipeline::Cache& cache,
                   const dedup::ColumnSource& columns, const dedup::LinkSource& search) {
  const Settled settled = settle_choice(session, {}, columns, stored_hashes(cache), search);
  dedup::SplitOptions how{.hash = settled.hash,
                          .threshold = settled.threshold,
                          .chosen_by = settled.chosen_by,
                          .shares = {0, 1 - o.holdout, o.holdout, 0},
                          .of = {false, true, false, false}};
  const auto without_test = [](std::size_t, Split own) {
    return own == Split::kTest ? Split::kNone : own;
  };
  const dedup::ColumnSource apart = with_splits(columns, without_test);
  Selection base = dedup::make_splits(apart, how, settled.links).selection;
  if (base.splits.empty()) base.splits = apart({"splits"}).splits;
  return base;
}

// The training samples of the base, thinned as far as a threshold does.
Selection thin(const SweepData& data, const SweepPoint& point, int threshold) {
  const dedup::ColumnSource of_train = with_splits(data.columns, [&](std::size_t row, Split) {
    return data.trains(row) ? Split::kTrain : Split::kNone;
  });
  const dedup::Options how{.hash = point.hash,
                           .threshold = threshold,
                           .scope = dedup::Scope::kWithin,
                           .policy = {.keep = point.keep, .mode = point.mode}};
  const Selection thinned = dedup::deduplicate(of_train, how, data.search).selection;
  Selection out = data.base;
  out.mode = thinned.mode;
  out.settings = dedup::settings_of(how, std::nullopt);
  for (std::size_t row = 0; row < out.size(); ++row) {
    if (!data.trains(row)) continue;
    out.weights[row] = thinned.weights[row];
    out.kept[row] = thinned.kept[row];
    out.distances[row] = thinned.distances[row];
    out.rules[row] = thinned.rules[row];
  }
  return out;
}

// Images that a hash tells something of, whatever the threshold.
std::uint64_t most_removable(const SweepData& data, const std::string& hash) {
  const dedup::Fingerprints table = data.columns({"quality"});
  std::uint64_t matchable = 0;
  for (const std::uint32_t row : dedup::matchable_rows(table, hash)) {
    matchable += data.trains(row) ? 1 : 0;
  }
  return matchable;
}

Selection selection_of(const SweepData& data, const SweepPoint& point) {
  if (!point.thins()) return data.base;
  if (point.threshold) return thin(data, point, *point.threshold);
  const auto wanted =
      static_cast<std::uint64_t>(*point.removed * static_cast<double>(data.training) + 0.5);
  const int bits = dedup::find_hash(point.hash).row->bits;
  const std::uint64_t able = most_removable(data, point.hash);
  std::uint64_t most = 0;
  // Upwards, as each search costs more than the one before.
  for (int threshold = 0; threshold <= bits / 2; threshold += std::max(1, bits / 32)) {
    const Selection thinned = thin(data, point, threshold);
    most = dedup::count_thinned(thinned);
    if (most >= wanted) return dedup::trim(thinned, wanted, /*seed=*/0);
    if (most + able < wanted) {  // equal images, and those that codes tell something of
      most += able;
      break;
    }
  }
  throw UsageError(fmt::format(
      "{} cannot remove {:.4g} % of the training samples: {:.4g} % at most; give a smaller "
      "--removed, or another --hash",
      point.hash, 100 * *point.removed,
      100 * static_cast<double>(most) / static_cast<double>(data.training)));
}

// What training obeys of a selection: of two that differ in nothing else one is trained on.
Selection effect_of(Selection selection) {
  selection.settings.clear();
  std::ranges::fill(selection.distances, std::uint16_t{0});
  if (dedup::count_thinned(selection) == 0) selection.mode = dedup::SelectionMode::kKeep;
  if (selection.mode == dedup::SelectionMode::kKeep) selection.kept = selection.ids;
  return selection;
}

// Named by its effect.
std::string write(const SweepData& data, Selection selection) {
  selection.name.clear();
  selection.cache_digest.clear();
  selection.name = "sweep-" + to_hex(xxh3_64(dedup::serialize(effect_of(selection))));
  selection.cache_digest = data.cache.digest();
  if (data.estimates) return selection.name;
  const std::vector<std::string> known = data.cache.selections();
  if (std::ranges::find(known, selection.name) == known.end()) {
    data.cache.write_selection(selection);
  }
  return selection.name;
}

// The base with test as it is in the cache.
SweepTest plan_test(const SweepData& data) {
  Selection selection = data.base;
  std::vector<bool> trains(selection.size());  // by component
  for (std::size_t row = 0; row < selection.size(); ++row) {
    if (data.trains(row)) trains[selection.components[row]] = true;
  }
  SweepTest test;
  for (std::size_t row = 0; row < selection.size(); ++row) {
    if (data.table.splits[row] == Split::kTest) {
      selection.splits[row] = Split::kTest;
      ++test.images;
      test.leaked += trains[selection.components[row]] ? 1 : 0;
    } else if (!data.trains(row)) {
      selection.splits[row] = Split::kNone;  // what is not trained on gives nothing away
    }
  }
  if (test.images > 0) test.selection = write(data, selection);
  return test;
}

std::string job_of(const SweepOptions& o, const SweepData& data, const std::string& selection,
                   double epochs, int seed) {
  return nlohmann::ordered_json{{"cache", data.cache.digest()},
                                {"selection", selection},
                                {"epochs", fmt::format("{:.6g}", epochs)},
                                {"seed", seed},
                                {"train", o.train}}
      .dump();
}

// Flags of winnow train that a sweep gives itself.
void check_train_words(const std::vector<std::string>& words) {
  constexpr std::array kOwn{
      "--out",     "--selection", "--epochs",          "--seed", "--threads", "--resume",
      "--holdout", "--folds",     "--checkpoint-hist", "--json", "--live",    "--max-steps"};
  for (const std::string& word : words) {
    const std::string flag = word.substr(0, word.find('='));
    if (std::ranges::find(kOwn, flag) == kOwn.end()) continue;
    throw UsageError(flag +
                     " stands among the words for winnow train, and the sweep decides it; "
                     "leave it out there, and see winnow help sweep for what is said before --");
  }
}

// Its arms, one for each budget; `selections`: one for all seeds, or one a seed.
void add_arms(const SweepOptions& o, const SweepData& data, SweepArm arm,
              const std::vector<std::string>& selections, std::uint64_t epoch_size,
              std::vector<SweepArm>& arms) {
  for (const std::string& budget : o.equal) {
    arm.budget = budget;
    arm.epoch_images = epoch_size;
    arm.epochs = budget == "epochs" ? o.epochs
                                    : o.epochs * static_cast<double>(data.training) /
                                          static_cast<double>(epoch_size);
    arm.jobs.clear();
    for (int seed = 1; seed <= o.seeds; ++seed) {
      const auto at = static_cast<std::size_t>(seed - 1);
      arm.jobs.push_back(
          job_of(o, data, selections[std::min(at, selections.size() - 1)], arm.epochs, seed));
    }
    arms.push_back(arm);
  }
}

// "'a', 'b' and 3 more".
std::string names_of(const std::vector<std::vector<std::int32_t>>& classes,
                     const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(classes.size(), kMost); ++i) {
    text += text.empty() ? "'" : ", '";
    for (std::size_t k = 0; k < classes[i].size(); ++k) {
      text += (k == 0 ? "" : "|") + names.at(static_cast<std::size_t>(classes[i][k]));
    }
    text += "'";
  }
  if (classes.size() > kMost) text += " and " + grouped(classes.size() - kMost) + " more";
  return text;
}

std::string in_number(std::size_t classes) {
  return classes == 1 ? "the class" : grouped(classes) + " classes:";
}

// What the hold-out does to small classes.
void note_hold_out(const SweepData& data, SweepPlan& plan) {
  const std::vector<std::string>& names = data.cache.manifest().classes;
  Selection as_it_is = data.base;
  as_it_is.splits = data.table.splits;
  const dedup::ClassCounts before = dedup::kept_by_class(as_it_is, data.table);
  const auto unseen =
      dedup::vanished(before, dedup::kept_by_class(data.base, data.table, Split::kVal));
  if (!unseen.empty()) {
    plan.notes.push_back(
        fmt::format("the hold-out has no image of {} {}, so nothing is said of what it loses; a "
                    "larger --holdout may have one",
                    in_number(unseen.size()), names_of(unseen, names)));
  }
  const auto untrained = dedup::vanished(before, dedup::kept_by_class(data.base, data.table));
  if (!untrained.empty()) {
    plan.notes.push_back(
        fmt::format("the hold-out leaves nothing to train on of {} {}; a smaller --holdout may "
                    "leave some",
                    in_number(untrained.size()), names_of(untrained, names)));
  }
}

struct PlannedPoint {
  SweepPoint point;
  std::string selection;
  std::uint64_t removed = 0;
  dedup::ClassCounts classes;  // of what is removed
  std::size_t classes_gone = 0;
};

std::vector<PlannedPoint> plan_points(const SweepOptions& o, const Session& session,
                                      const SweepData& data, SweepPlan& plan) {
  std::vector<PlannedPoint> planned;
  const dedup::ClassCounts before = dedup::kept_by_class(data.base, data.table);
  for (const SweepPoint& point : dedup::points_of(o.axes)) {
    const Selection selection = selection_of(data, point);
    PlannedPoint one{.point = point,
                     .selection = write(data, selection),
                     .removed = dedup::count_thinned(selection),
                     .classes = dedup::thinned_by_class(selection, data.table)};
    const auto gone = dedup::vanished(before, dedup::kept_by_class(selection, data.table));
    one.classes_gone = gone.size();
    if (!gone.empty()) {
      plan.notes.push_back(fmt::format(
          "{} leaves nothing to train on of {} {}, and is not recommended, whatever it loses; thin "
          "less to keep it",
          dedup::name_of(point), in_number(gone.size()),
          names_of(gone, data.cache.manifest().classes)));
    }
    say(session, fmt::format("{}: {} of {} training samples removed", dedup::name_of(point),
                             grouped(one.removed), grouped(data.training)));
    planned.push_back(std::move(one));
  }
  return planned;
}

void add_controls(const SweepOptions& o, const SweepData& data,
                  const std::vector<PlannedPoint>& points, SweepPlan& plan) {
  std::vector<dedup::ClassCounts> removals;
  for (const PlannedPoint& point : points) removals.push_back(point.classes);
  const std::vector<std::size_t> shared = dedup::share_controls(removals, o.control_tolerance);
  const std::size_t budgets = o.equal.size();
  // Arms of point i begin at i * budgets; its control's are behind all of these.
  std::map<std::size_t, std::size_t> place_of;
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (points[i].removed == 0) continue;
    const auto [place, fresh] = place_of.try_emplace(shared[i], plan.arms.size());
    if (fresh) {
      std::vector<std::string> selections;
      for (int seed = 1; seed <= o.seeds; ++seed) {
        selections.push_back(
            write(data, dedup::draw_control(data.base, data.table, points[i].classes,
                                            static_cast<std::uint64_t>(seed))));
      }
      const std::uint64_t kept = data.training - points[i].removed;
      add_arms(o, data,
               {.name = "control-" + dedup::name_of(points[i].point),
                .series = "removed at random",
                .kept = kept,
                .removed = points[i].removed},
               selections, kept, plan.arms);
    }
    for (std::size_t budget = 0; budget < budgets; ++budget) {
      plan.arms[i * budgets + budget].control = place->second + budget;
    }
  }
}

std::string series_of(const SweepPoint& point) {
  return point.hash + " " +
         std::string(point.mode == dedup::SelectionMode::kKeep
                         ? dedup::keep_policy_name(point.keep)
                         : dedup::selection_mode_name(point.mode));
}

SweepPlan plan_on(const SweepOptions& o, const Session& session, const SweepData& data) {
  SweepPlan plan{
      .cache_digest = data.cache.digest(), .training = data.training, .arms = {}, .notes = {}};
  for (const Split split : data.base.splits) plan.held_out += split == Split::kVal ? 1 : 0;
  plan.test = plan_test(data);
  note_hold_out(data, plan);
  const std::vector<PlannedPoint> points = plan_points(o, session, data, plan);
  for (const PlannedPoint& point : points) {
    const std::uint64_t kept = data.training - point.removed;
    const bool weighs = point.point.thins() && point.point.mode == dedup::SelectionMode::kWeight;
    add_arms(o, data,
             {.name = dedup::name_of(point.point),
              .series = point.point.thins() ? series_of(point.point) : "all",
              .kept = kept,
              .removed = point.removed,
              .classes_gone = point.classes_gone},
             {point.selection}, weighs ? data.training : kept, plan.arms);
  }
  add_controls(o, data, points, plan);
  return plan;
}

}  // namespace

std::vector<std::string> train_words(const std::string& job) {
  const JsonReader read(job, {.name = "a job of the sweep"});
  std::vector<std::string> words{"--selection", read.at("selection").text(),
                                 "--epochs",    read.at("epochs").text(),
                                 "--seed",      std::to_string(read.at("seed").number())};
  const std::vector<std::string> more = read.at("train").texts();
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

SweepPlan plan_sweep(const SweepOptions& o, bool estimates, const Session& session) {
  dedup::points_of(o.axes);  // or they make no sense
  check_train_words(o.train);
  const pipeline::Cache cache = pipeline::Cache::open(o.cache);
  if (!can_keep_selections(cache.paths())) {
    throw SystemError(o.cache.string() +
                      " cannot be written to, and what is trained on are selections in it; sweep "
                      "on a copy of it");
  }
  const dedup::ColumnSource columns = stoppable(cache.open_fingerprints(), session);
  SweepPlan plan;
  with_search(session, /*all_links=*/true, [&](const dedup::LinkSource& search) {
    SweepData data{.cache = cache,
                   .columns = columns,
                   .search = search,
                   .table = columns({"splits", "labels"}),
                   .base = {}};
    data.base = hold_out(o, session, cache, columns, search);
    write(data, data.base);
    data.estimates = estimates;
    for (std::size_t row = 0; row < data.base.size(); ++row) data.training += data.trains(row);
    plan = plan_on(o, session, data);
  });
  return plan;
}

}  // namespace winnow::tools
