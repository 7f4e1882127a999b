#pragma once

#include <cstdint>
#include <optional>

namespace winnow::train {

// How many machines are worthwhile: the lemmas of Zou et al. 2017 (arXiv 1709.06622). Pure
// functions.
//
// Overhead    R_O = T_O / T_C: seconds of a step that computation does not hide, relative to those
//             that one machine computes. The lemmas assume the same overhead for any number of
//             machines.
// Efficiency  Speed of G machines, as a share of G times that of one, for the same global batch.

// (1 + R_O) / (1 + G R_O), for overhead >= 0 and machines >= 1.
double scaling_efficiency(double overhead, double machines) noexcept;

// The largest number of machines with this efficiency; nullopt: any number. For overhead >= 0 and
// efficiency in (0, 1].
std::optional<std::int64_t> most_machines(double overhead, double efficiency) noexcept;

// The largest overhead with which this number of machines has this efficiency; nullopt: any
// overhead.
std::optional<double> most_overhead(double efficiency, double machines) noexcept;

// The load of parameter servers in a step.
struct ServedStep {
  double parameter_bytes = 0;
  std::int64_t workers = 1;
  double bytes_per_second = 1;  // network speed of a server, in each direction; above 0
  double compute_seconds = 1;   // time of a worker's step, which hides the traffic; above 0
};
// N_ps = ceil(2 S N_w / (B T)), at least 1.
std::int64_t parameter_servers(const ServedStep& step) noexcept;

}  // namespace winnow::train
