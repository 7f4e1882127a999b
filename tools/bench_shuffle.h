#pragma once

#include "tools/bench_rows.h"

namespace winnow::tools {

// `winnow bench shuffle`.
BenchOf add_bench_shuffle(CLI::App& bench);

}  // namespace winnow::tools
