#pragma once

#include <functional>
#include <string_view>

#include "common/sample.h"

namespace winnow::dedup {

// Receives samples and their display names, in ascending order of ids.
using NameSink = std::function<void(SampleId, std::string_view)>;
// Supplies them, perhaps with those of other samples. May be called repeatedly.
using NameSource = std::function<void(const NameSink&)>;

}  // namespace winnow::dedup
