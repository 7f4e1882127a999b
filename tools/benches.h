#pragma once

#include "tools/sub_verb.h"

// The benchmarks of `winnow bench`: one line and one file each.
namespace winnow::tools {

SubVerb add_bench_decode(CLI::App& bench);
SubVerb add_bench_ingest(CLI::App& bench);
SubVerb add_bench_hash(CLI::App& bench);
SubVerb add_bench_search(CLI::App& bench);
SubVerb add_bench_loader(CLI::App& bench);
SubVerb add_bench_shuffle(CLI::App& bench);
SubVerb add_bench_alltoall(CLI::App& bench);   // under mpirun
SubVerb add_bench_allreduce(CLI::App& bench);  // under mpirun

}  // namespace winnow::tools
