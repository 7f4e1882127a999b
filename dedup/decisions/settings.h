#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "dedup/decisions/deduplicate.h"
#include "dedup/decisions/split_options.h"

namespace winnow::dedup {

// Settings of a selection (Selection::settings): a JSON object with the options of the verb that
// made it, for people to read.
// No decision is made from it, so it is kept as text, byte for byte, even if a newer winnow wrote
// it.
// This header is the only place that knows its content. Pure functions.

// hash_version  Version of the compared codes; nullopt for kExact.
std::string settings_of(const Options& options, std::optional<std::uint32_t> hash_version);
// Which fold is val, from 1, and the number of folds; 0 folds: there are none.
struct FoldOf {
  std::uint32_t fold = 0;
  std::uint32_t folds = 0;
};
std::string settings_of(const SplitOptions& options, std::optional<std::uint32_t> hash_version,
                        FoldOf fold = {});
// The settings with the fold of a selection whose samples were dealt out to folds.
std::string with_fold(const std::string& settings, FoldOf fold);

// Whether two selections were decided by the same settings, perhaps for different images. Ignores
// Options::chosen_by.
bool same_but_for_choice(const std::string& a, const std::string& b);

// A probability with four digits, or as many as tell it from 1: "0.9678", "0.99998".
std::string in_digits(double probability);

// The settings in words: "phash within 4 bits, groups are components, keeps first, ...". Empty if
// they are unknown or damaged.
std::string settings_in_words(const std::string& settings);

}  // namespace winnow::dedup
