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

// What is known of one hash.
struct Tuned {
  dedup::Curve curve;
  std::vector<pipeline::EditRecall> edits;  // none where nothing was edited
  dedup::JudgedCurve judged = {};           // no points where no pair was judged

  std::optional<double> recall(int threshold) const;
};

// Of judged pairs, where none is asked for.
inline constexpr double kUsualPrecision = 0.95;

// What dedup does where one types what is recommended.
struct Taken {
  dedup::Options options;  // hash and threshold, kExact or, where pictures are compared, as these
  std::uint64_t images = 0;
  std::uint64_t removed = 0;
  std::shared_ptr<const dedup::VerifiedLinks> verified = {};  // empty: pictures are not compared
};

// What is known of all hashes, what is chosen of them, as dedup chooses, and what comes of it.
struct Measured {
  std::vector<Tuned> all;
  std::optional<dedup::HashAndThreshold> best;
  std::optional<Taken> taken = {};  // nothing: nothing is recommended
};

// Texts for people, tables of at most 80 columns.
// One row a distinct distance, as long as most pairs are expected to be true.
std::string curve_table(const Tuned& tuned);
// What people judged, one row a threshold that has more pairs than the one before; empty where they
// did not. Ends with the largest threshold of this precision.
std::string judged_table(const Tuned& tuned, double precision);
// How many edited pictures each hash finds again, within the threshold chosen for `demand`.
std::string edit_tables(const std::vector<Tuned>& all, const dedup::Demand& demand);
// What comparing the pictures came to; empty where they are not compared.
std::string pictures_table(const Measured& measured);
// What to take, as a command, why, and what it finds. `flags`: what was asked, which the command
// has too.
std::string recommendation_in_words(const Measured& measured, const ChoiceOptions& flags,
                                    const std::string& cache);

// Fields of schema winnow.tune/1.
Json json_of(const Tuned& tuned, const dedup::Demand& demand);
// `recommended`, and `pictures` where they are compared.
Json json_of(const Measured& measured);
Json json_of_pictures(const Taken& taken);

// Precision and recall of all hashes.
LineChart chart_of(const std::vector<Tuned>& all, const std::string& cache);

}  // namespace winnow::app
