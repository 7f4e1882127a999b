#pragma once

#include <cstdint>
#include <optional>

namespace winnow::train {

// How many machines pay: the lemmas of Zou et al. 2017 (arXiv 1709.06622). Pure functions.
//
// Overhead   R_O = T_O / T_C: seconds of a step that no computing hides, beside those that one
//            machine computes. The lemmas take it as the same on any number of machines.
// Efficiency the speed of G machines as a share of G times that of one, for the same global batch.

// (1 + R_O) / (1 + G R_O). In  overhead >= 0, machines >= 1
double scaling_efficiency(double overhead, double machines) noexcept;

// The most machines that have this efficiency; nullopt: any number has.
// In  overhead >= 0; efficiency in (0, 1]
std::optional<std::int64_t> most_machines(double overhead, double efficiency) noexcept;

// The largest overhead with which so many machines have this efficiency; nullopt: any has.
std::optional<double> most_overhead(double efficiency, double machines) noexcept;

// What parameter servers would have to carry in a step.
struct ServedStep {
  double parameter_bytes = 0;
  std::int64_t workers = 1;
  double bytes_per_second = 1;  // of a server's network, each way; above 0
  double compute_seconds = 1;   // of a worker's step, behind which the traffic hides; above 0
};
// N_ps = ceil(2 S N_w / (B T)), at least 1.
std::int64_t parameter_servers(const ServedStep& step) noexcept;

}  // namespace winnow::train
