#pragma once

#include <functional>
#include <optional>

namespace winnow::train {

// Reads the temperature of an NVIDIA GPU in degrees Celsius. Uses the driver's own libraries,
// opened at run time: winnow does not depend on them.
//
// In   `card`: index as in BackendOptions::device.
// Out  nullopt if there is no such GPU, no driver, or no reading.
using Thermometer = std::function<std::optional<double>()>;
Thermometer open_thermometer(int card);

}  // namespace winnow::train
