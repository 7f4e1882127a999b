#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "dedup/tune/curve.h"
#include "dedup/tune/judged.h"
#include "pipeline/recall/recall.h"
#include "tools/report/lines.h"

namespace winnow::tools {

// What is known of one hash.
struct Tuned {
  dedup::Curve curve;
  std::vector<pipeline::EditRecall> edits;  // none where nothing was edited
  dedup::JudgedCurve judged = {};           // no points where no pair was judged

  std::optional<double> recall(int threshold) const;
};

// Which hash and threshold to take.
struct Recommendation {
  const Tuned* tuned = nullptr;
  dedup::ThresholdChoice choice;
};

// Of the hashes that can be so precise, the one that finds most: of edited pictures where there are
// any, else of pairs expected to be true; of equals the first. Nothing where none can.
std::optional<Recommendation> recommend(const std::vector<Tuned>& all, double precision);

// Texts for people, tables of at most 80 columns.
// One row a distinct distance, as long as most pairs are expected to be true.
std::string curve_table(const Tuned& tuned);
// What people judged, one row a threshold that has more pairs than the one before; empty where they
// did not. Ends with the largest threshold of this precision.
std::string judged_table(const Tuned& tuned, double precision);
// How many edited pictures each hash finds again, within the threshold chosen for `precision`.
std::string edit_tables(const std::vector<Tuned>& all, double precision);
// Why this threshold and what it comes to, in a sentence without a full stop.
std::string in_words(const dedup::Curve& curve, const dedup::ThresholdChoice& choice);
std::string in_words(const std::optional<Recommendation>& best, double precision,
                     const std::string& cache);

// Fields of schema winnow.tune/1. `precision`: that was asked for.
nlohmann::ordered_json json_of(const Tuned& tuned, std::optional<double> precision);

// Precision and recall of all hashes.
LineChart chart_of(const std::vector<Tuned>& all, const std::string& cache);

}  // namespace winnow::tools
