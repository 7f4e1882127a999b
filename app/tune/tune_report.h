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
  dedup::Curve curve;  // precision and recall by threshold
  // Recall for each kind of edit; empty: no edits were tried.
  std::vector<pipeline::EditRecall> edits;
  // Precision by threshold from reviewed pairs; without points if there are none.
  dedup::JudgedCurve judged = {};

  std::optional<double> recall(int threshold) const;
};

// Default of the wanted precision, for thresholds that are chosen by reviewed pairs.
inline constexpr double kUsualPrecision = 0.95;

// Results of dedup with the recommended command.
struct Taken {
  // Options of the recommended dedup: a hash and its threshold; kExact; or the options for
  // comparing pictures.
  dedup::Options options;
  std::uint64_t images = 0;
  std::uint64_t removed = 0;
  // Pairs found by comparing pictures; null: pictures are not compared.
  std::shared_ptr<const dedup::VerifiedLinks> verified = {};
};

// Measurements of all hashes, the hash and threshold chosen from them, and what dedup would find.
struct Measured {
  std::vector<Tuned> all;
  std::optional<dedup::HashAndThreshold> best;
  // Results of the recommended dedup; nullopt: nothing is recommended.
  std::optional<Taken> taken = {};
};

// A table of precision by distance: one row per distinct distance, as long as most pairs at it are
// expected to be duplicates. This and the next tables are for people, at most 80 columns wide.
std::string curve_table(const Tuned& tuned);
// A table of reviewed pairs: one row per threshold with more pairs than the one before, then the
// largest threshold that has `precision`. Empty if no pair was reviewed.
std::string judged_table(const Tuned& tuned, double precision);
// A table of recall: the share of edited pictures that each hash finds within the threshold chosen
// for `demand`.
std::string edit_tables(const std::vector<Tuned>& all, const dedup::Demand& demand);
// A table of the results of comparing pictures. Empty if they were not compared.
std::string pictures_table(const Measured& measured);
// The recommended command, the reason for it, and what it finds. `flags`: options the user gave,
// which the command repeats.
std::string recommendation_in_words(const Measured& measured, const ChoiceOptions& flags,
                                    const std::string& cache);

// The measurements of one hash, as JSON of schema winnow.tune/1.
Json json_of(const Tuned& tuned, const dedup::Demand& demand);
// The recommendation as JSON of schema winnow.tune/1: fields `recommended` and, if pictures were
// compared, `pictures`.
Json json_of(const Measured& measured);
Json json_of_pictures(const Taken& taken);

// A chart of precision and recall by threshold for all hashes.
LineChart chart_of(const std::vector<Tuned>& all, const std::string& cache);

}  // namespace winnow::app
