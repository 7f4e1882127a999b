#pragma once

#include <functional>
#include <optional>

namespace winnow::train {

// Opens a reader of an NVIDIA GPU's temperature in degrees Celsius. The driver's own libraries are
// loaded at run time, so winnow does not depend on them.
//
// In   `card`: index as in BackendOptions::device.
// Out  A function that returns the temperature; nullopt if there is no such GPU, no driver, or no
//      reading.
using Thermometer = std::function<std::optional<double>()>;
Thermometer open_thermometer(int card);

}  // namespace winnow::train
