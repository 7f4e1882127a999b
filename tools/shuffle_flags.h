#pragma once

#include "pipeline/load/partial_shuffle.h"
#include "tools/flags/flags.h"

namespace winnow::tools {

// --shuffle-fraction and --partitions, into `options`, which must outlive the parsing.
void add_shuffle_flags(Verb verb, pipeline::ShuffleOptions& options);

}  // namespace winnow::tools
