#include "train/plan/machines.h"

#include <algorithm>
#include <cmath>

namespace winnow::train {
namespace {

// Tolerance for a quotient of rounded numbers that should be an integer.
constexpr double kRounding = 1e-9;

}  // namespace

double scaling_efficiency(double overhead, double machines) noexcept {
  return (1 + overhead) / (1 + machines * overhead);
}

std::optional<std::int64_t> most_machines(double overhead, double efficiency) noexcept {
  const double most = (1 + overhead - efficiency) / (efficiency * overhead);
  if (!(most < 1e15)) return std::nullopt;
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::floor(most * (1 + kRounding))));
}

std::optional<double> most_overhead(double efficiency, double machines) noexcept {
  if (efficiency * machines <= 1) return std::nullopt;
  return (1 - efficiency) / (efficiency * machines - 1);
}

std::int64_t parameter_servers(const ServedStep& step) noexcept {
  const double traffic = 2 * step.parameter_bytes * static_cast<double>(step.workers);
  const double servers = traffic / (step.bytes_per_second * step.compute_seconds);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(servers * (1 - kRounding))));
}

}  // namespace winnow::train
