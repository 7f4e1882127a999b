#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/page/gallery_page.h"
#include "dedup/split/folds.h"
#include "dedup/split/split.h"
#include "pipeline/store/manifest.h"

namespace winnow::app {

// The name of the class; nullopt: without labels.
std::optional<std::string> class_of(const dedup::ClassOff& off, const pipeline::Manifest& manifest);
// The reason in words.
std::string reason_in_words(const dedup::ClassOff& off);

// A class that is off its share, and the split or fold where it is furthest off.
struct OffClass {
  std::string where;
  dedup::ClassOff off;
};
std::vector<OffClass> off_of(const dedup::SplitSummary& summary);
std::vector<OffClass> off_of(const dedup::FoldsSummary& summary);

// The frame of the page of `winnow split` around the blocks. Pure.
GalleryFrame split_frame(const dedup::SplitSummary& summary, const pipeline::Manifest& manifest);
// The frame for --folds.
GalleryFrame folds_frame(const dedup::FoldsSummary& summary, const pipeline::Manifest& manifest);

}  // namespace winnow::app
