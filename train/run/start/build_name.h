#pragma once

#include <string_view>

namespace winnow::train {

// "0.1.0 Release GNU 12.2.0": version, build type and compiler of this program. Ranks of a job have
// it in common; a run's plan holds it.
std::string_view build_name() noexcept;

}  // namespace winnow::train
