#pragma once

#include <string_view>

namespace winnow::train {

// Version, build type and compiler of this program: "0.1.0 Release GNU 12.2.0". It must be equal on
// all ranks, and is stored in a run's plan.
std::string_view build_name() noexcept;

}  // namespace winnow::train
