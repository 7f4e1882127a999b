#pragma once

#include "pipeline/load/partial_shuffle.h"

namespace CLI {
class App;
}

namespace winnow::tools {

// --shuffle-fraction and --partitions, into `options`, which must outlive the parsing.
void add_shuffle_flags(CLI::App& app, pipeline::ShuffleOptions& options);

}  // namespace winnow::tools
