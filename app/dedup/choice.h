#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/session.h"
#include "dedup/decisions/deduplicate.h"
#include "dedup/tune/choice.h"

namespace winnow::app {

inline constexpr const char* kAuto = "auto";

// The user's options for how images are compared: hash, threshold, and how to choose them.
struct ChoiceOptions {
  std::string hash = kAuto;
  std::optional<int> threshold;
  std::optional<double> risk;
  std::optional<double> precision;
  std::optional<double> least_quality;
  // Whether pictures are compared, too; nullopt: verifies_unasked() decides.
  std::optional<bool> verify;
  // Least probability that a pair found by comparing pictures must have.
  std::optional<double> least_probability;
};

// Defaults without --least-probability. Pairs found by comparing pictures need a probability of
// kLeastProbability. It is raised until at most kMostFalsePairs false pairs are expected.
inline constexpr double kLeastProbability = 0.9;
inline constexpr double kMostFalsePairs = 0.5;

// Throws UsageError if options contradict each other. `prefix`: prefix of the options' names in the
// message.
void check_choice(const ChoiceOptions& flags, const std::string& prefix = "--");
// Throws UsageError for an unknown hash, or for a threshold beyond the number of its bits. Not for
// an index, which has its own hash.
void check_hash(const ChoiceOptions& flags);
dedup::Demand demand_of(const ChoiceOptions& flags) noexcept;
// The hash of the options: the given one; phash if only a threshold is given; else kAuto.
std::string hash_of(const ChoiceOptions& flags);
// Whether the hash or the threshold is chosen automatically from the images.
bool chooses(const ChoiceOptions& flags) noexcept;
// The hashes that an ingest must compute to deduplicate with the user's options; empty: the default
// hashes.
std::vector<std::string> hashes_for(const ChoiceOptions& flags);

// How images are compared: the hash and threshold that were given or chosen.
struct Settled {
  std::string hash;
  int threshold = 0;
  dedup::ChosenBy chosen_by;
  dedup::LinkSource links;  // search that reuses the pairs found while choosing
  // Sentences: what was chosen and why, and what warns against it.
  std::vector<std::string> why = {};
};

// Prints a hint if the given threshold is far below the default of the hash, as if it were meant
// for a shorter hash.
void say_if_small(const Session& session, const std::string& hash, int threshold);

// Determines hash and threshold: those of the options, or those that dedup::measure_and_choose()
// picks among the `stored` hashes. If none is suitable, only equal files and equal pixels are
// compared. Throws RefusedError: a hash was asked for, but no stored hash is suitable.
Settled settle_choice(const Session& session, const ChoiceOptions& flags,
                      const dedup::ColumnSource& columns, std::span<const std::string> stored,
                      const dedup::LinkSource& links, const dedup::ShownPairs& shown);

// A hash and threshold in words, without a full stop: "phash16 within 62 bits of 256: fewer than
// 0.5 false pairs expected among 60,000 images; of edited photos it finds JPEG, ...; not ...".
std::string in_words(const dedup::HashAndThreshold& choice, const dedup::Demand& demand);
// Why hash codes alone are unreliable for these images, because many look alike, and what to do.
std::string in_words(const dedup::Alike& alike);

}  // namespace winnow::app
