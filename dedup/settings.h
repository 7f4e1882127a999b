#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "dedup/deduplicate.h"
#include "dedup/split/split.h"

namespace winnow::dedup {

// What decided a selection (Selection::settings): a JSON object of the options of the verb that
// made it, for people to read. Nothing is decided by it again, so it stays text, byte for byte:
// whatever a newer winnow wrote there is kept. All that knows what is in it is here. Pure.

// `hash_version`: of the codes compared; nothing for kExact.
std::string settings_of(const Options& options, std::optional<std::uint32_t> hash_version);
// Which of how many folds is val, from 1; of 0 folds: there are none.
struct FoldOf {
  std::uint32_t fold = 0;
  std::uint32_t folds = 0;
};
std::string settings_of(const SplitOptions& options, std::optional<std::uint32_t> hash_version,
                        FoldOf fold = {});
// Those of a selection, whose samples were dealt out to folds.
std::string with_fold(const std::string& settings, FoldOf fold);

// Whether two were decided alike, if perhaps of other images: the same but for what the images
// chose (Options::chosen_by).
bool same_but_for_choice(const std::string& a, const std::string& b);

// In words: "phash within 4 bits, groups are components, keeps first, ...". Empty where that is not
// told, or damaged.
std::string settings_in_words(const std::string& settings);

}  // namespace winnow::dedup
