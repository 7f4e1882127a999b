#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/dedup/choice.h"
#include "app/page/lines.h"
#include "common/json.h"
#include "dedup/tune/choice.h"
#include "dedup/tune/curve.h"
#include "dedup/tune/judged.h"
#include "dedup/verify/verified_links.h"
#include "pipeline/recall/recall.h"

namespace winnow::app {

// Measurements of one hash.
struct Tuned {
  dedup::Curve curve;
  std::vector<pipeline::EditRecall> edits;  // empty: nothing was edited
  dedup::JudgedCurve judged = {};           // without points if no pair was judged

  std::optional<double> recall(int threshold) const;
};

// Precision of judged pairs, if none is asked for.
inline constexpr double kUsualPrecision = 0.95;

// The result of dedup with the recommended command.
struct Taken {
  // Options of that dedup: hash and threshold; or kExact; or, if pictures are compared, the options
  // of the comparison.
  dedup::Options options;
  std::uint64_t images = 0;
  std::uint64_t removed = 0;
  std::shared_ptr<const dedup::VerifiedLinks> verified = {};  // null: pictures are not compared
};

// Measurements of all hashes, the choice that dedup makes among them, and its result.
struct Measured {
  std::vector<Tuned> all;
  std::optional<dedup::HashAndThreshold> best;
  std::optional<Taken> taken = {};  // nullopt: nothing is recommended
};

// Texts for people, tables of at most 80 columns.
// One row per distinct distance, as long as most pairs are expected to be true.
std::string curve_table(const Tuned& tuned);
// Review decisions: one row per threshold that has more pairs than the one before, then the largest
// threshold with this precision. Empty if there are none.
std::string judged_table(const Tuned& tuned, double precision);
// Share of edited pictures that each hash finds, within the threshold chosen for `demand`.
std::string edit_tables(const std::vector<Tuned>& all, const dedup::Demand& demand);
// Results of comparing pictures; empty if they are not compared.
std::string pictures_table(const Measured& measured);
// The recommended command, the reason, and what it finds. `flags`: what was asked for; they appear
// in the command.
std::string recommendation_in_words(const Measured& measured, const ChoiceOptions& flags,
                                    const std::string& cache);

// Fields of schema winnow.tune/1.
Json json_of(const Tuned& tuned, const dedup::Demand& demand);
// `recommended`, and `pictures` if they are compared.
Json json_of(const Measured& measured);
Json json_of_pictures(const Taken& taken);

// Precision and recall of all hashes.
LineChart chart_of(const std::vector<Tuned>& all, const std::string& cache);

}  // namespace winnow::app
