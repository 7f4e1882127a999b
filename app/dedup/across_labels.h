#pragma once

#include <string>
#include <vector>

#include "dedup/decisions/deduplicate.h"

namespace winnow::app {

// A sentence: how many more images would be removed if labels were ignored, and the command for it.
// Empty if there are none.
//
// result  of deduplicate() with the other options
// words   of the command that was typed (words_of)
// prefix  of the flags that decide, such as "--drop-"
std::string across_labels(const dedup::Result& result, const dedup::Options& options,
                          const dedup::ColumnSource& columns, const dedup::LinkSource& links,
                          std::vector<std::string> words, const std::string& prefix = "--");

}  // namespace winnow::app
