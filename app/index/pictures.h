#pragma once

#include <filesystem>
#include <vector>

#include "app/dedup/compared.h"
#include "app/session.h"
#include "app/sources/reading.h"
#include "dedup/index/index.h"
#include "pipeline/export/thumbnails.h"

namespace winnow::app {

// The data by which images of an index can be compared. All arguments must outlive the result.
//
// picture_of  from pictures_of_index()
// sources     caches with the feature vectors of the index's images
Images images_of(const dedup::StoredIndex& index, pipeline::PictureOf picture_of,
                 const std::vector<std::filesystem::path>& sources, const Session& session);
inline constexpr const char* kNoPicturesInIndex =
    "There are no pictures: an index keeps none. Name what was added to it, caches or data sets, "
    "with --source, once for each.";

// A function that reads pictures of a cache or a data set, which it keeps open. Empty for a cache
// without pictures.
pipeline::PictureOf open_pictures(const std::filesystem::path& at, const ReadingOptions& reading,
                                  const Session& session);

// A function that reads pictures of the images in an index, from the caches and data sets `at`.
// Empty if `at` is empty. Throws UsageError for one that was not added to the index, or that has no
// pictures.
pipeline::PictureOf pictures_of_index(const dedup::StoredIndex& index,
                                      const std::vector<std::filesystem::path>& at,
                                      const ReadingOptions& reading, const Session& session);

}  // namespace winnow::app
