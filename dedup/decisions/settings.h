#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "dedup/decisions/deduplicate.h"
#include "dedup/decisions/split_options.h"

namespace winnow::dedup {

// Settings of a selection (Selection::settings): a JSON object with the options of the command that
// made it, for people to read.
// No decision is made from it, so the text is kept byte for byte, even if a newer winnow wrote it.
// Only the functions here know what it contains. All are pure.

// hash_version  Version of the compared hash; nullopt for kExact.
std::string settings_of(const Options& options, std::optional<std::uint32_t> hash_version);
// For k-fold cross-validation: which fold is val, from 1, and the number of folds. 0 folds: none.
struct FoldOf {
  std::uint32_t fold = 0;
  std::uint32_t folds = 0;
};
std::string settings_of(const SplitOptions& options, std::optional<std::uint32_t> hash_version,
                        FoldOf fold = {});
// Adds the fold to the settings of a selection that was made for cross-validation.
std::string with_fold(const std::string& settings, FoldOf fold);

// Whether two selections were decided with the same settings, perhaps for different images.
// Options::chosen_by may differ.
bool same_but_for_choice(const std::string& a, const std::string& b);

// A probability as text, with four digits, or as many as it takes not to read 1: "0.9678",
// "0.99998".
std::string in_digits(double probability);

// Settings in words: "phash within 4 bits, groups are components, keeps first, ...". Empty if they
// are unknown or damaged.
std::string settings_in_words(const std::string& settings);

}  // namespace winnow::dedup
