#pragma once

#include <cstddef>

#include "common/json.h"
#include "common/json_reader.h"
#include "pipeline/store/settings.h"
#include "pipeline/store/statistics.h"

namespace winnow::pipeline {

// The field `settings` of a manifest; null if a cache does not say how it was made. Settings that
// are not in the field have defaults.
Json to_json(const CacheSettings& settings);
CacheSettings parse_settings(const JsonReader& in);

// The field `statistics` of a manifest; null if a cache lacks it. Parsing refuses what to_json()
// cannot have written for this number of classes.
Json to_json(const Statistics& statistics);
Statistics parse_statistics(const JsonReader& in, std::size_t classes);

}  // namespace winnow::pipeline
