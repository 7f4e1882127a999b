#pragma once

#include "pipeline/decode/settings.h"
#include "pipeline/store/manifest.h"

namespace winnow::pipeline {

// What the images of a cache were decoded with, from its settings; what they do not name is as by
// default. FormatError for what this winnow does not know.
DecodeSettings decode_settings(const Manifest& manifest);

}  // namespace winnow::pipeline
