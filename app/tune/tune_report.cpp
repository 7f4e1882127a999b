#include "app/tune/tune_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "app/words.h"
#include "common/json.h"

namespace winnow::app {
namespace {

using dedup::Curve;
using dedup::CurvePoint;
using pipeline::EditRecall;

std::string share_text(const std::optional<double>& share) {
  return share ? fmt::format("{:.1f} %", 100 * *share) : "-";
}

// The threshold for a table of edits; 0 if none will do.
int threshold_of(const Curve& curve, const dedup::Demand& demand) {
  const auto choice = dedup::choose(curve, demand);
  return choice ? choice->threshold : 0;
}

Json judged_json(const dedup::JudgedCurve& judged) {
  Json json{{"sampled", judged.sampled}, {"confidence", 0.95}, {"thresholds", Json::array()}};
  for (const dedup::JudgedPoint& p : judged.points) {
    Json point{{"threshold", p.threshold},
               {"judged", p.judged},
               {"duplicates", p.duplicates},
               {"precision_at_least", p.interval.least},
               {"precision_at_most", p.interval.most}};
    if (p.precision) point["precision"] = *p.precision;
    if (p.found) point["recall"] = *p.found;
    json["thresholds"].push_back(std::move(point));
  }
  return json;
}

}  // namespace

std::optional<double> Tuned::recall(int threshold) const {
  if (edits.empty()) return std::nullopt;
  return pipeline::expected_recall(edits, threshold);
}

std::string curve_table(const Tuned& tuned) {
  const Curve& curve = tuned.curve;
  const bool by_class = curve.by == dedup::FalsePairs::kByClass;
  std::string out = fmt::format(
      "{} of {}; false pairs estimated from {}\n", curve.hash, count_of(curve.images, "image"),
      by_class ? fmt::format("classes:\ntwo random images differ in {:.1f} %", 100 * curve.chance)
               : fmt::format("distances:\n{:.1f} of {} bits between random pairs, {:.0f} of them "
                             "independent",
                             curve.mean, curve.bits, curve.independent_bits));
  constexpr const char* kRow = "{:>4}{:>14}{:>12}{:>11}{:>10}{:>9}{:>8}{:>11}\n";
  out += fmt::format(kRow, "bits", "pairs", "other class", "false", "precision", "at least",
                     "recall", "removable");
  std::optional<std::uint64_t> pairs;
  for (const CurvePoint& p : curve.points) {
    if (pairs == p.pairs) continue;
    pairs = p.pairs;
    out += fmt::format(kRow, p.threshold, grouped(p.pairs), by_class ? grouped(p.other_class) : "-",
                       fmt::format("{:.1f}", p.false_pairs), share_text(p.precision),
                       share_text(p.precision_at_least), share_text(tuned.recall(p.threshold)),
                       grouped(p.removable));
    if (p.precision && *p.precision < 0.5) break;  // mostly chance from here on
  }
  return out;
}

std::string judged_table(const Tuned& tuned, double precision) {
  const dedup::JudgedCurve& judged = tuned.judged;
  if (judged.points.empty()) return {};
  std::string out =
      fmt::format("{} by review decisions, {}\n", judged.hash,
                  judged.sampled ? "on a drawn sample" : "as if they were a drawn sample");
  constexpr const char* kRow = "{:>4}{:>14}{:>12}{:>11}{:>10}{:>9}{:>8}\n";
  out += fmt::format(kRow, "bits", "judged", "duplicates", "precision", "at least", "at most",
                     "found");
  std::optional<std::uint64_t> pairs;
  for (const dedup::JudgedPoint& p : judged.points) {
    if (pairs == p.judged) continue;
    pairs = p.judged;
    out += fmt::format(kRow, p.threshold, grouped(p.judged), grouped(p.duplicates),
                       share_text(p.precision), share_text(p.interval.least),
                       share_text(p.interval.most), share_text(p.found));
  }
  const dedup::JudgedPoint* choice = dedup::choose_judged(judged, precision);
  out += choice == nullptr
             ? fmt::format("by these, no threshold has a precision of {:.1f} %\n", 100 * precision)
             : fmt::format("the largest threshold with a precision of {:.1f} % by these is {}\n",
                           100 * precision,
                           count_of(static_cast<std::uint64_t>(choice->threshold), "bit"));
  return out;
}

std::string edit_tables(const std::vector<Tuned>& all, const dedup::Demand& demand) {
  constexpr std::size_t kColumns = 3;
  constexpr int kName = 32;
  constexpr int kColumn = 16;
  std::vector<const Tuned*> edited;
  for (const Tuned& tuned : all) {
    if (!tuned.edits.empty()) edited.push_back(&tuned);
  }
  std::string out;
  for (std::size_t first = 0; first < edited.size(); first += kColumns) {
    const auto columns =
        std::span(edited).subspan(first, std::min(kColumns, edited.size() - first));
    const auto row = [&](const std::string& name, const auto& text) {
      out += fmt::format("{:{}}", name, kName);
      for (const Tuned* tuned : columns) out += fmt::format("{:>{}}", text(*tuned), kColumn);
      out += "\n";
    };
    const auto threshold = [&](const Tuned& tuned) { return threshold_of(tuned.curve, demand); };
    out += first == 0 ? "" : "\n";
    row("found again after", [](const Tuned& tuned) {
      return tuned.curve.hash.size() < kColumn ? tuned.curve.hash
                                               : tuned.curve.hash.substr(0, kColumn - 2) + "~";
    });
    row("", [&](const Tuned& tuned) {
      return count_of(static_cast<std::uint64_t>(threshold(tuned)), "bit");
    });
    for (std::size_t i = 0; i < columns.front()->edits.size(); ++i) {
      row(columns.front()->edits[i].name,
          [&](const Tuned& tuned) { return share_text(tuned.edits[i].at(threshold(tuned))); });
    }
  }
  return out;
}

std::string pictures_table(const Measured& measured) {
  if (!measured.taken || !measured.taken->verified) return {};
  const dedup::VerifiedLinks& verified = *measured.taken->verified;
  constexpr const char* kRow = "{:>10}{:>10}{:>12}{:>16}{:>12}\n";
  return fmt::format("pictures of {} compared; each pair shows one picture\n",
                     count_of(measured.taken->images, "image")) +
         fmt::format(kRow, "pairs", "false", "look alike", "near, rejected", "removed") +
         fmt::format(kRow, grouped(verified.verification.counts.verified),
                     fmt::format("{:.2g}", verified.kept.expected_false),
                     grouped(verified.look_alikes.size()), grouped(verified.refused),
                     grouped(measured.taken->removed));
}

std::string recommendation_in_words(const Measured& measured, const ChoiceOptions& flags,
                                    const std::string& cache) {
  const dedup::Demand demand = demand_of(flags);
  if (!measured.taken) {
    return demand.precision
               ? fmt::format("No threshold of these hashes has a precision of {:.1f} %.",
                             100 * *demand.precision)
               : fmt::format("No threshold of these hashes has fewer than {:g} false pairs.",
                             demand.risk);
  }
  const Taken& taken = *measured.taken;
  std::string command = "winnow dedup " + cache;
  const std::string goes =
      fmt::format("removes {} of {}", grouped(taken.removed), count_of(taken.images, "image"));
  std::string why;
  if (taken.verified) {
    if (flags.verify) command += " --verify";
    if (flags.least_probability) {
      command += fmt::format(" --least-probability {:g}", *flags.least_probability);
    }
    why = fmt::format(
        "which compares the pictures: {} one picture, {:.2g} of them expected to be false",
        count_of(taken.verified->verification.counts.verified, "pair shows", "pairs show"),
        taken.verified->kept.expected_false);
  } else if (taken.options.hash == dedup::kExact) {
    command += " --hash exact";
    why = "equal files and pixels only";
  } else {
    command +=
        fmt::format(" --hash {} --threshold {}", taken.options.hash, taken.options.threshold);
    why = in_words(*measured.best, demand);
    const auto tuned =
        std::ranges::find(measured.all, measured.best->hash,
                          [](const Tuned& of) -> const std::string& { return of.curve.hash; });
    if (const auto recall = tuned->recall(measured.best->threshold)) {
      why += fmt::format("; {:.0f} % of edited copies are found", 100 * *recall);
    }
  }
  if (demand.least_quality && taken.options.hash != dedup::kExact) {
    command += fmt::format(" --least-quality {:g}", *demand.least_quality);
  }
  std::string words = fmt::format("Recommended: {}\n({}; {}).", command, why, goes);
  const bool by_codes = !taken.verified && taken.options.hash != dedup::kExact;
  if (by_codes && measured.best->alike) words += "\n" + in_words(*measured.best->alike);
  return words;
}

Json json_of(const Tuned& tuned, const dedup::Demand& demand) {
  const Curve& curve = tuned.curve;
  Json json{{"hash", curve.hash},
            {"bits", curve.bits},
            {"images", curve.images},
            {"false_pairs_by", curve.by == dedup::FalsePairs::kByClass ? "class" : "distance"},
            {"chance_of_other_class", curve.chance},
            {"mean_distance", curve.mean},
            {"independent_bits", curve.independent_bits}};
  if (const auto choice = dedup::choose(curve, demand)) json["chosen"] = choice->threshold;
  json["thresholds"] = Json::array();
  for (const CurvePoint& p : curve.points) {
    Json point{{"threshold", p.threshold},     {"pairs", p.pairs},
               {"labelled_pairs", p.labelled}, {"other_class", p.other_class},
               {"false_pairs", p.false_pairs}, {"by_chance", p.chance_probability},
               {"grouped", p.grouped},         {"removable", p.removable}};
    if (p.precision) point["precision"] = *p.precision;
    if (p.precision_at_least) point["precision_at_least"] = *p.precision_at_least;
    if (const auto recall = tuned.recall(p.threshold)) point["recall"] = *recall;
    json["thresholds"].push_back(std::move(point));
  }
  if (!tuned.judged.points.empty()) json["judged"] = judged_json(tuned.judged);
  json["edits"] = Json::array();
  for (const EditRecall& edit : tuned.edits) {
    Json found = Json::array();
    for (const CurvePoint& p : curve.points) found.push_back(edit.at(p.threshold));
    json["edits"].push_back({{"family", edit.family}, {"edit", edit.name}, {"found", found}});
  }
  return json;
}

Json json_of_pictures(const Taken& taken) {
  const dedup::VerifiedLinks& verified = *taken.verified;
  return {{"pairs", verified.verification.counts.verified},
          {"false_pairs", verified.kept.expected_false},
          {"least_probability", verified.kept.least.near},
          {"look_alikes", verified.look_alikes.size()},
          {"refused", verified.refused},
          {"removed", taken.removed}};
}

Json json_of(const Measured& measured) {
  const Taken& taken = *measured.taken;
  const bool by_codes = !taken.verified && taken.options.hash != dedup::kExact;
  Json json{{"hash", taken.options.hash}, {"threshold", dedup::effective_threshold(taken.options)}};
  if (taken.verified) json["verified"] = taken.verified->kept.least.near;
  if (by_codes) {
    json["pairs"] = measured.best->pairs;
    json["false_pairs"] = measured.best->false_pairs;
  } else if (taken.verified) {
    json["pairs"] = taken.verified->verification.counts.verified;
    json["false_pairs"] = taken.verified->kept.expected_false;
  }
  json["unsafe"] = by_codes && measured.best->alike.has_value();
  json["removed"] = taken.removed;
  return json;
}

LineChart chart_of(const std::vector<Tuned>& all, const std::string& cache) {
  const bool relative = std::ranges::any_of(
      all, [&](const Tuned& tuned) { return tuned.curve.bits != all.front().curve.bits; });
  LineChart chart{.title = "Thresholds on " + cache,
                  .x_name = relative ? "share of the bits that may differ" : "bits that may differ",
                  .x_percent = relative,
                  .lines = {}};
  int colour = 0;
  for (const Tuned& tuned : all) {
    const double step = relative ? 1.0 / tuned.curve.bits : 1.0;
    LineChart::Line precision{tuned.curve.hash + ": expected precision", {}, step, false, colour};
    LineChart::Line recall{tuned.curve.hash + ": expected recall", {}, step, true, colour};
    for (const CurvePoint& p : tuned.curve.points) {
      precision.shares.push_back(p.precision);
      recall.shares.push_back(tuned.recall(p.threshold));
    }
    chart.lines.push_back(std::move(precision));
    if (!tuned.edits.empty()) chart.lines.push_back(std::move(recall));
    ++colour;
  }
  return chart;
}

}  // namespace winnow::app
