#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/page/gallery_page.h"
#include "dedup/split/folds.h"
#include "dedup/split/split.h"
#include "pipeline/store/manifest.h"

namespace winnow::app {

// The name of the class that is off its share; nullopt for samples without labels.
std::optional<std::string> class_of(const dedup::ClassOff& off, const pipeline::Manifest& manifest);
// The reason, in words, why a class is off its share.
std::string reason_in_words(const dedup::ClassOff& off);

// A class with too many or too few samples in a split or fold, and where the deviation is greatest.
struct OffClass {
  std::string where;
  dedup::ClassOff off;
};
std::vector<OffClass> off_of(const dedup::SplitSummary& summary);
std::vector<OffClass> off_of(const dedup::FoldsSummary& summary);

// Texts for the page of `winnow split` around the duplicate groups, for splits. Pure.
GalleryFrame split_frame(const dedup::SplitSummary& summary, const pipeline::Manifest& manifest);
// Texts for the page of `winnow split --folds` around the duplicate groups. Pure.
GalleryFrame folds_frame(const dedup::FoldsSummary& summary, const pipeline::Manifest& manifest);

}  // namespace winnow::app
