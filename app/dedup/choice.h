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

// What images are compared by, as it is asked for.
struct ChoiceOptions {
  std::string hash = kAuto;
  std::optional<int> threshold;
  std::optional<double> risk;
  std::optional<double> precision;
  std::optional<double> least_quality;
  std::optional<bool> verify;               // not said: verifies_unasked()
  std::optional<double> least_probability;  // of pairs that are verified
};

// Named `prefix` and verify, no-verify and least-probability, which is of verify. Without the last
// links must be this probable, or more where that leaves too many to expect among them that are
// false.
inline constexpr double kLeastProbability = 0.9;
inline constexpr double kMostFalsePairs = 0.5;

// UsageError where flags contradict each other. `prefix`: as above.
void check_choice(const ChoiceOptions& flags, const std::string& prefix = "--");
// UsageError where the hash that is said is none, or its codes never differ by as many bits as are
// said. Not for an index, whose own hash is compared.
void check_hash(const ChoiceOptions& flags);
dedup::Demand demand_of(const ChoiceOptions& flags) noexcept;
// The hash that is said: that of the flag, or phash where there is a threshold alone; else kAuto.
std::string hash_of(const ChoiceOptions& flags);
// Whether something is left to be chosen by the images.
bool chooses(const ChoiceOptions& flags) noexcept;
// The hashes that an ingest for this decision computes; empty: those of any ingest.
std::vector<std::string> hashes_for(const ChoiceOptions& flags);

// What images are compared by.
struct Settled {
  std::string hash;
  int threshold = 0;
  dedup::ChosenBy chosen_by;
  dedup::LinkSource links;            // a search that has what was found for the choice
  std::vector<std::string> why = {};  // sentences: what was chosen, and what speaks against it
};

// A sentence where a threshold that was given is far below the hash's usual one, as one of a
// shorter hash would be.
void say_if_small(const Session& session, const std::string& hash, int threshold);

// What the flags say, or what dedup::measure_and_choose() takes of the hashes that are `stored`.
// Where no stored hash will do, equal files and pixels alone; RefusedError
// where one was asked for.
Settled settle_choice(const Session& session, const ChoiceOptions& flags,
                      const dedup::ColumnSource& columns, std::span<const std::string> stored,
                      const dedup::LinkSource& links, const dedup::ShownPairs& shown);

// "phash16 within 62 bits of 256: fewer than 0.5 false pairs expected among 60,000 images; of
// edited photos it finds JPEG, ...; not ...", without a full stop.
std::string in_words(const dedup::HashAndThreshold& choice, const dedup::Demand& demand);
// Why codes alone are unsafe for these pictures, and what to do.
std::string in_words(const dedup::Alike& alike);

}  // namespace winnow::app
