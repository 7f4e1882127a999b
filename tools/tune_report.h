#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "dedup/tune/choice.h"
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

// Of judged pairs, where none is asked for.
inline constexpr double kUsualPrecision = 0.95;

// What is known of all hashes, and what is chosen of them, as dedup chooses.
struct Measured {
  std::vector<Tuned> all;
  std::optional<dedup::HashAndThreshold> best;
};

// Texts for people, tables of at most 80 columns.
// One row a distinct distance, as long as most pairs are expected to be true.
std::string curve_table(const Tuned& tuned);
// What people judged, one row a threshold that has more pairs than the one before; empty where they
// did not. Ends with the largest threshold of this precision.
std::string judged_table(const Tuned& tuned, double precision);
// How many edited pictures each hash finds again, within the threshold chosen for `demand`.
std::string edit_tables(const std::vector<Tuned>& all, const dedup::Demand& demand);
// What to take, as a command, why, and what it finds. Nothing: there is none.
std::string recommendation_in_words(const std::optional<dedup::HashAndThreshold>& best,
                                    const std::vector<Tuned>& all, const dedup::Demand& demand,
                                    const std::string& cache);

// Fields of schema winnow.tune/1.
nlohmann::ordered_json json_of(const Tuned& tuned, const dedup::Demand& demand);
nlohmann::ordered_json json_of(const dedup::HashAndThreshold& choice);

// Precision and recall of all hashes.
LineChart chart_of(const std::vector<Tuned>& all, const std::string& cache);

}  // namespace winnow::tools
