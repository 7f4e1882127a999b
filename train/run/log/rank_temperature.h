#pragma once

#include <functional>
#include <optional>

namespace winnow::train {

// Reads the temperature of an NVIDIA card, degrees Celsius. Asks the driver's own libraries, which
// are opened as it runs: winnow needs neither of them.
//
// In   `card`: as BackendOptions::device counts them
// Out  none where there is no such card, no driver, or a driver that does not say
using Thermometer = std::function<std::optional<double>()>;
Thermometer open_thermometer(int card);

}  // namespace winnow::train
