#pragma once

#include <cstdint>
#include <optional>

namespace winnow::train {

// Estimates how many machines are worthwhile, by the lemmas of Zou et al. 2017 (arXiv 1709.06622).
// Pure functions.
//
// Overhead    R_O = T_O / T_C. T_O: seconds of a step that computation does not hide. T_C: seconds
//             in which one machine computes the step. The lemmas assume the same overhead for any
//             number of machines.
// Efficiency  Speed of G machines, as a share of G times the speed of one, for the same global
//             batch.

// Returns the efficiency of G `machines` with overhead R_O: (1 + R_O) / (1 + G R_O), for overhead
// >= 0 and machines >= 1.
double scaling_efficiency(double overhead, double machines) noexcept;

// Returns the largest number of machines that reach this efficiency; nullopt: any number does. For
// overhead >= 0 and efficiency in (0, 1].
std::optional<std::int64_t> most_machines(double overhead, double efficiency) noexcept;

// Returns the largest overhead with which this number of machines reaches this efficiency; nullopt:
// any overhead.
std::optional<double> most_overhead(double efficiency, double machines) noexcept;

// The load of parameter servers in one training step.
struct ServedStep {
  double parameter_bytes = 0;
  std::int64_t workers = 1;
  double bytes_per_second = 1;  // network speed of a server in each direction; above 0
  // Seconds that a worker computes in a step, which hide the traffic; above 0.
  double compute_seconds = 1;
};
// Returns the number of parameter servers that keep up: N_ps = ceil(2 S N_w / (B T)), at least 1.
// S: parameter bytes; N_w: workers; B: bytes per second; T: seconds of computing.
std::int64_t parameter_servers(const ServedStep& step) noexcept;

}  // namespace winnow::train
