#pragma once

#include <string>
#include <vector>

#include "dedup/decisions/deduplicate.h"

namespace winnow::app {

// A sentence for the user: how many more images would be removed if labels were ignored, and the
// command that does so. Empty if no more would be.
//
// result  result of deduplicate() with the present options
// words   words of the command line (words_of)
// prefix  prefix of the option names of deduplication, such as "--drop-"
std::string across_labels(const dedup::Result& result, const dedup::Options& options,
                          const dedup::ColumnSource& columns, const dedup::LinkSource& links,
                          std::vector<std::string> words, const std::string& prefix = "--");

}  // namespace winnow::app
