#pragma once

#include "app/dedup/features.h"
#include "tools/command.h"
#include "tools/flags/flags.h"

namespace winnow::tools {
// --features and --cosine.
void add_feature_flags(Verb verb, FeatureOptions& flags);

}  // namespace winnow::tools
