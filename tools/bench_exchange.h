#pragma once

#include <functional>

#include "tools/command.h"

namespace winnow::tools {

struct BenchOf {
  CLI::App* app;
  std::function<void(Session&)> run;
};

// `winnow bench alltoall`, under mpirun.
BenchOf add_bench_alltoall(CLI::App& bench);

}  // namespace winnow::tools
