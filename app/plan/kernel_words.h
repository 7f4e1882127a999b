#pragma once

#include <string>
#include <vector>

#include "train/backend/backend.h"

namespace winnow::app {

// The values of --kernel: LAYER=KERNEL for each choice.
std::vector<std::string> kernel_words(const train::KernelChoices& choices);

// Reads them. Throws UsageError: another form, or two kernels for a layer.
train::KernelChoices parse_kernel_words(const std::vector<std::string>& words);

}  // namespace winnow::app
