#pragma once

#include <filesystem>
#include <vector>

#include "app/dedup/compared.h"
#include "app/session.h"
#include "app/sources/reading.h"
#include "dedup/index/index.h"
#include "pipeline/export/thumbnails.h"

namespace winnow::app {

// What there is to compare the images of an index by. `picture_of`: as pictures_of_index() gives
// it; `sources`: what has its features. All must outlive it.
Images images_of(const dedup::StoredIndex& index, pipeline::PictureOf picture_of,
                 const std::vector<std::filesystem::path>& sources, const Session& session);
inline constexpr const char* kNoPicturesInIndex =
    "There are no pictures: an index keeps none. Name what was added to it, caches or data sets, "
    "with --source, once for each.";

// Pictures of a cache or a data set, which stays open as long as they do. Empty for a cache that
// keeps none.
pipeline::PictureOf open_pictures(const std::filesystem::path& at, const ReadingOptions& reading,
                                  const Session& session);

// Pictures of the images in an index, of those of its sources that caches and data sets `at` have;
// empty where none are named. UsageError for one that has none of them, or no pictures.
pipeline::PictureOf pictures_of_index(const dedup::StoredIndex& index,
                                      const std::vector<std::filesystem::path>& at,
                                      const ReadingOptions& reading, const Session& session);

}  // namespace winnow::app
