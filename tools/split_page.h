#pragma once

#include <optional>
#include <string>

#include "dedup/split/split.h"
#include "pipeline/store/manifest.h"
#include "tools/report/gallery_page.h"

namespace winnow::tools {

// The name of the class; nothing: without labels.
std::optional<std::string> class_of(const dedup::ClassOff& off, const pipeline::Manifest& manifest);
// Why it is off, in words.
std::string reason_in_words(const dedup::ClassOff& off);

// What the page of `winnow split` says around the blocks that stay together. Pure.
GalleryFrame split_frame(const dedup::SplitSummary& summary, const pipeline::Manifest& manifest);

}  // namespace winnow::tools
