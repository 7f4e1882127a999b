#pragma once

#include <string>
#include <vector>

#include "dedup/decisions/deduplicate.h"

namespace winnow::app {

// A sentence of how many images would go, were they not labelled otherwise than what they are like,
// with the command that removes them; empty where none would. `result`: what deduplicate() gave for
// the others.
//
// words   of the command that was typed (words_of)
// prefix  of its flags that decide, as "--drop-"
std::string across_labels(const dedup::Result& result, const dedup::Options& options,
                          const dedup::ColumnSource& columns, const dedup::LinkSource& links,
                          std::vector<std::string> words, const std::string& prefix = "--");

}  // namespace winnow::app
