#pragma once

#include "tools/flags/flags.h"
#include "tools/sub_verb.h"

// The benchmarks of `winnow bench`.
namespace winnow::tools {

SubVerb add_bench_decode(Verb bench);
SubVerb add_bench_ingest(Verb bench);
SubVerb add_bench_hash(Verb bench);
SubVerb add_bench_search(Verb bench);
SubVerb add_bench_loader(Verb bench);
SubVerb add_bench_shuffle(Verb bench);
SubVerb add_bench_alltoall(Verb bench);   // under mpirun
SubVerb add_bench_allreduce(Verb bench);  // under mpirun

}  // namespace winnow::tools
