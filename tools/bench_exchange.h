#pragma once

#include "tools/bench_rows.h"

namespace winnow::tools {

// `winnow bench alltoall`, under mpirun.
BenchOf add_bench_alltoall(CLI::App& bench);

}  // namespace winnow::tools
