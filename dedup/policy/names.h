#pragma once

#include <functional>
#include <string_view>

#include "common/sample.h"

namespace winnow::dedup {

// Receives one sample and its display name per call, in ascending order of ids.
using NameSink = std::function<void(SampleId, std::string_view)>;
// Passes the display names of samples to the sink; it may pass those of more samples than the
// caller needs. May be called repeatedly.
using NameSource = std::function<void(const NameSink&)>;

}  // namespace winnow::dedup
