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

// How images are compared, as the user asked for it.
struct ChoiceOptions {
  std::string hash = kAuto;
  std::optional<int> threshold;
  std::optional<double> risk;
  std::optional<double> precision;
  std::optional<double> least_quality;
  std::optional<bool> verify;               // nullopt: verifies_unasked() decides
  std::optional<double> least_probability;  // for verified pairs
};

// Defaults without --least-probability: links need kLeastProbability, or more until at most
// kMostFalsePairs false links are expected.
inline constexpr double kLeastProbability = 0.9;
inline constexpr double kMostFalsePairs = 0.5;

// Throws UsageError: flags contradict each other. `prefix`: of the flags' names in the message.
void check_choice(const ChoiceOptions& flags, const std::string& prefix = "--");
// Throws UsageError: an unknown hash, or a threshold that its codes cannot reach. Not for an index,
// which has a hash of its own.
void check_hash(const ChoiceOptions& flags);
dedup::Demand demand_of(const ChoiceOptions& flags) noexcept;
// The hash of the flag; phash if there is only a threshold; else kAuto.
std::string hash_of(const ChoiceOptions& flags);
// Whether hash or threshold is left to be chosen from the images.
bool chooses(const ChoiceOptions& flags) noexcept;
// The hashes that an ingest for this decision computes; empty: the usual ones.
std::vector<std::string> hashes_for(const ChoiceOptions& flags);

// How images are compared, once it is settled.
struct Settled {
  std::string hash;
  int threshold = 0;
  dedup::ChosenBy chosen_by;
  dedup::LinkSource links;            // a search that reuses the links found for the choice
  std::vector<std::string> why = {};  // sentences: what was chosen, and what speaks against it
};

// Prints a hint if the given threshold is far below the hash's usual one, as if meant for a shorter
// hash.
void say_if_small(const Session& session, const std::string& hash, int threshold);

// Settles hash and threshold from the flags, or by dedup::measure_and_choose() among the `stored`
// hashes.
// If no stored hash will do, only equal files and pixels are compared.
// Throws RefusedError: no stored hash will do, and a hash was asked for.
Settled settle_choice(const Session& session, const ChoiceOptions& flags,
                      const dedup::ColumnSource& columns, std::span<const std::string> stored,
                      const dedup::LinkSource& links, const dedup::ShownPairs& shown);

// "phash16 within 62 bits of 256: fewer than 0.5 false pairs expected among 60,000 images; of
// edited photos it finds JPEG, ...; not ...", without a full stop.
std::string in_words(const dedup::HashAndThreshold& choice, const dedup::Demand& demand);
// Why codes alone are unsafe for these pictures, and what to do.
std::string in_words(const dedup::Alike& alike);

}  // namespace winnow::app
