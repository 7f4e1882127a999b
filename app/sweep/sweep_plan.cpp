#include "app/sweep/sweep_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>

#include "app/dedup/search.h"
#include "app/experiment/train_words.h"
#include "app/words.h"
#include "common/error.h"
#include "common/file.h"
#include "common/json.h"
#include "common/json_reader.h"
#include "dedup/sweep/control.h"
#include "dedup/sweep/trim.h"

namespace winnow::app {
namespace {

using dedup::Selection;
using dedup::SweepPoint;

std::string job_of(const SweepOptions& o, const SweepPlan& plan, const std::string& selection,
                   double epochs, int seed) {
  return Json{{"cache", plan.cache_digest},
              {"selection", selection},
              {"epochs", fmt::format("{:.6g}", epochs)},
              {"seed", seed},
              {"train", o.train}}
      .dump();
}

// Adds the arms of a point, one per budget. `selections`: one for all seeds, or one per seed.
void add_arms(const SweepOptions& o, SweepArm arm, const std::vector<std::string>& selections,
              std::uint64_t epoch_size, SweepPlan& plan) {
  for (const std::string& budget : o.equal) {
    arm.budget = budget;
    arm.epoch_images = epoch_size;
    arm.epochs = budget == "epochs" ? o.epochs
                                    : o.epochs * static_cast<double>(plan.training) /
                                          static_cast<double>(epoch_size);
    arm.jobs.clear();
    for (int seed = 1; seed <= o.seeds; ++seed) {
      const auto at = static_cast<std::size_t>(seed - 1);
      arm.jobs.push_back(
          job_of(o, plan, selections[std::min(at, selections.size() - 1)], arm.epochs, seed));
    }
    plan.arms.push_back(arm);
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

// Notes on small classes in the hold-out.
void note_hold_out(const SweepSamples& samples, SweepPlan& plan) {
  Selection as_it_is = samples.base();
  as_it_is.splits = samples.table().splits;
  const dedup::ClassCounts before = dedup::kept_by_class(as_it_is, samples.table());
  const auto without = [&](Split split) {
    return dedup::vanished(before, dedup::kept_by_class(samples.base(), samples.table(), split));
  };
  if (const auto unseen = without(Split::kVal); !unseen.empty()) {
    plan.notes.push_back(
        fmt::format("the hold-out has no image of {} {}, so its accuracy is unknown; a larger "
                    "--holdout may have one",
                    in_number(unseen.size()), names_of(unseen, plan.classes)));
  }
  if (const auto untrained = without(Split::kTrain); !untrained.empty()) {
    plan.notes.push_back(
        fmt::format("the hold-out leaves nothing to train on of {} {}; a smaller --holdout may "
                    "leave some",
                    in_number(untrained.size()), names_of(untrained, plan.classes)));
  }
}

std::vector<std::uint64_t> by_label(const dedup::ClassCounts& counts, std::size_t classes) {
  std::vector<std::uint64_t> sums(classes);
  for (const auto& [labels, count] : counts) {
    for (const std::int32_t label : labels) sums.at(static_cast<std::size_t>(label)) += count;
  }
  return sums;
}

struct PlannedPoint {
  SweepPoint point;
  std::string selection;
  std::uint64_t removed = 0;
  dedup::ClassCounts classes;  // removed images by class
  ArmFacts facts;
};

void add_precisions(const SweepSamples& samples, std::vector<PlannedPoint>& points) {
  std::map<std::string, int> most;
  for (PlannedPoint& point : points) {
    if (point.point.by_pictures()) point.facts.precision = samples.precision_by_pictures();
    if (point.facts.bits) {
      int& bits = most.try_emplace(point.point.hash, 0).first->second;
      bits = std::max(bits, *point.facts.bits);
    }
  }
  for (const auto& [hash, bits] : most) {
    const std::vector<std::optional<double>> precisions = samples.precisions(hash, bits);
    for (PlannedPoint& point : points) {
      if (!point.facts.bits || point.point.hash != hash) continue;
      const auto at = static_cast<std::size_t>(*point.facts.bits);
      point.facts.precision = precisions.at(std::min(at, precisions.size() - 1));
    }
  }
}

std::string in_words(const PlannedPoint& point, std::uint64_t training) {
  std::string text = fmt::format("{}: {} of {} removed", dedup::name_of(point.point),
                                 grouped(point.removed), count_of(training, "training sample"));
  if (point.facts.precision) {
    text +=
        fmt::format(", {1} of the pairs {0} are expected to be duplicates",
                    point.facts.bits
                        ? "within " + count_of(static_cast<std::uint64_t>(*point.facts.bits), "bit")
                        : "that show one picture",
                    percent(*point.facts.precision));
  }
  return text + fmt::format("; {:.0f} leaks to test and {:.0f} label conflicts left",
                            point.facts.leaks, point.facts.conflicts);
}

PlannedPoint plan_point(SweepSamples& samples, const SweepPoint& point, bool estimates,
                        SweepPlan& plan) {
  const ThinnedPoint thinned = samples.thin(point);
  const Selection& selection = thinned.selection;
  const dedup::Remains remains = samples.remains_of(selection);
  PlannedPoint one{.point = point,
                   .selection = samples.keep(selection, thinned.groups, estimates),
                   .removed = dedup::count_thinned(selection),
                   .classes = dedup::thinned_by_class(selection, samples.table()),
                   .facts = {.bits = thinned.bits,
                             .leaks = static_cast<double>(remains.leaks),
                             .conflicts = static_cast<double>(remains.conflicts)}};
  one.facts.removed = by_label(one.classes, plan.classes.size());
  const auto gone = dedup::vanished(dedup::kept_by_class(samples.base(), samples.table()),
                                    dedup::kept_by_class(selection, samples.table()));
  one.facts.classes_gone = gone.size();
  if (!gone.empty()) {
    plan.notes.push_back(fmt::format(
        "{} leaves nothing to train on of {} {}, so it is not recommended; thin less to keep it",
        dedup::name_of(point), in_number(gone.size()), names_of(gone, plan.classes)));
  }
  return one;
}

std::string series_of(const SweepPoint& point) {
  return point.hash + " " +
         std::string(point.mode == dedup::SelectionMode::kKeep
                         ? dedup::keep_policy_name(point.keep)
                         : dedup::selection_mode_name(point.mode));
}

struct PlannedControl {
  std::vector<std::string> selections;  // one per seed
  ArmFacts facts;
};

PlannedControl plan_control(const SweepOptions& o, const SweepSamples& samples,
                            const PlannedPoint& point, bool estimates) {
  PlannedControl control;
  control.facts.removed = point.facts.removed;
  control.facts.classes_gone = point.facts.classes_gone;
  for (int seed = 1; seed <= o.seeds; ++seed) {
    const Selection drawn = dedup::draw_control(samples.base(), samples.table(), point.classes,
                                                static_cast<std::uint64_t>(seed));
    const dedup::Remains remains = samples.remains_of(drawn);
    control.facts.leaks += static_cast<double>(remains.leaks) / o.seeds;
    control.facts.conflicts += static_cast<double>(remains.conflicts) / o.seeds;
    control.selections.push_back(samples.keep(drawn, samples.base_groups(), estimates));
  }
  return control;
}

// Which points share a control. A point by pictures shares only with a removal that is equal in
// every class, because it is to be compared at its own size.
std::vector<std::size_t> shared_controls(const std::vector<PlannedPoint>& points,
                                         const std::vector<dedup::ClassCounts>& removals,
                                         double tolerance) {
  std::vector<std::size_t> shared = dedup::share_controls(removals, tolerance);
  const std::vector<std::size_t> of_equals = dedup::share_controls(removals, 0);
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].point.by_pictures()) shared[i] = of_equals[i];
  }
  return shared;
}

void add_controls(const SweepOptions& o, const SweepSamples& samples,
                  const std::vector<PlannedPoint>& points, bool estimates, SweepPlan& plan) {
  std::vector<dedup::ClassCounts> removals;
  for (const PlannedPoint& point : points) removals.push_back(point.classes);
  const std::vector<std::size_t> shared = shared_controls(points, removals, o.control_tolerance);
  const std::size_t budgets = o.equal.size();
  // Arms of point i begin at i * budgets. Controls come after all points.
  std::map<std::size_t, std::size_t> place_of;
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (points[i].removed == 0) continue;
    const auto [place, fresh] = place_of.try_emplace(shared[i], plan.arms.size());
    if (fresh) {
      const PlannedControl control = plan_control(o, samples, points[i], estimates);
      const std::uint64_t kept = plan.training - points[i].removed;
      add_arms(o,
               {.name = "control-" + dedup::name_of(points[i].point),
                .series = series_of(points[i].point),
                .kept = kept,
                .removed = points[i].removed,
                .facts = control.facts},
               control.selections, kept, plan);
    }
    for (std::size_t budget = 0; budget < budgets; ++budget) {
      plan.arms[i * budgets + budget].control = place->second + budget;
    }
  }
}

SweepPlan plan_on(const SweepOptions& o, bool estimates, const Session& session,
                  const pipeline::Cache& cache, SweepSamples& samples) {
  SweepPlan plan{.cache_digest = cache.digest(),
                 .training = samples.training(),
                 .held_out = samples.held_out(),
                 .base = samples.keep(samples.base(), samples.base_groups(), false),
                 .test = samples.keep_test(),
                 .classes = cache.manifest().classes,
                 .class_samples = {},
                 .arms = {},
                 .notes = {}};
  plan.class_samples =
      by_label(dedup::kept_by_class(samples.base(), samples.table()), plan.classes.size());
  note_hold_out(samples, plan);
  std::vector<PlannedPoint> points;
  for (const SweepPoint& point : dedup::points_of(o.axes)) {
    // An estimate needs only the arm that thins nothing.
    points.push_back(plan_point(samples, point, estimates && point.thins(), plan));
  }
  add_precisions(samples, points);
  for (const PlannedPoint& point : points) {
    say(session, in_words(point, plan.training));
    const std::uint64_t kept = plan.training - point.removed;
    const bool weighs = point.point.thins() && point.point.mode == dedup::SelectionMode::kWeight;
    add_arms(o,
             {.name = dedup::name_of(point.point),
              .series = point.point.thins() ? series_of(point.point) : "all",
              .kept = kept,
              .removed = point.removed,
              .facts = point.facts},
             {point.selection}, weighs ? plan.training : kept, plan);
  }
  add_controls(o, samples, points, estimates, plan);
  return plan;
}

// Nullopt: the file does not exist, has another size of hold-out, or its selections are gone.
std::optional<CutHoldOut> read_hold_out(const std::filesystem::path& file, const SweepOptions& o,
                                        const pipeline::Cache& cache) {
  if (!std::filesystem::exists(file)) return std::nullopt;
  const JsonReader stored(read_text(file), {.name = file.string()});
  if (stored.at("version").number() != 1) stored.fail("is of a newer winnow");
  if (stored.at("holdout").real() != o.holdout) return std::nullopt;
  CutHoldOut cut{.base = stored.at("base").text(), .test = stored.at("test").text()};
  const std::vector<std::string> known = cache.selections();
  const auto is_there = [&](const std::string& name) {
    return std::ranges::find(known, name) != known.end();
  };
  if (!is_there(cut.base) || !is_there(cut.test)) return std::nullopt;
  return cut;
}

// Writes the file if it does not exist or differs.
void keep_hold_out(const std::filesystem::path& file, const SweepOptions& o,
                   const SweepPlan& plan) {
  const Json json{
      {"version", 1}, {"holdout", o.holdout}, {"base", plan.base}, {"test", plan.test.selection}};
  const std::string text = json.dump() + "\n";
  if (!std::filesystem::exists(file) || read_text(file) != text) write_file_durably(file, text);
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

pipeline::Cache open_swept(const SweepOptions& o) {
  dedup::points_of(o.axes);  // throws if they make no sense
  check_train_words("sweep", o.train);
  pipeline::Cache cache = pipeline::Cache::open(o.cache);
  if (!can_keep_selections(cache.paths())) {
    throw SystemError(
        o.cache.string() +
        " cannot be written to, and a sweep stores its selections there; sweep a copy of it");
  }
  return cache;
}

SweepPlan plan_sweep(const SweepOptions& o, const pipeline::Cache& cache, bool estimates,
                     const std::filesystem::path& folder, const Session& session) {
  SweepPlan plan;
  with_shared_work(session, /*all_links=*/true, [&](const dedup::SharedWork& work) {
    const std::filesystem::path hold_out = folder / "hold-out.json";
    SweepSamples samples(cache,
                         {.holdout = o.holdout,
                          .cut = read_hold_out(hold_out, o, cache),
                          .verify = o.axes.pictures,
                          .pairs = folder / "verified.pairs"},
                         work, session);
    plan = plan_on(o, estimates, session, cache, samples);
    keep_hold_out(hold_out, o, plan);
  });
  return plan;
}

}  // namespace winnow::app
