#pragma once

#include <string>

#include "pipeline/augment/variants.h"
#include "pipeline/decode/settings.h"
#include "pipeline/store/manifest.h"

namespace winnow::pipeline {

// What the images of a cache were decoded with, from its settings; what they do not name is as by
// default. FormatError for what this winnow does not know.
DecodeSettings decode_settings(const Manifest& manifest);

// What was stored of large images, likewise.
ResizeSettings resize_settings(const Manifest& manifest);

// Which variants of images were stored, likewise.
VariantSettings variant_settings(const Manifest& manifest);

// The settings of a manifest with what decided that samples were left out added to their list
// `dropped`, and without that list: as they were when they were ingested. FormatError.
std::string with_dropped(const std::string& settings, const std::string& decided_by);
std::string without_dropped(const std::string& settings);

}  // namespace winnow::pipeline
