#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "app/dedup/lists.h"
#include "app/page/gallery_make.h"
#include "app/session.h"
#include "pipeline/store/manifest.h"

namespace winnow::app {

// Before any work: throws UsageError where there is no folder for this file. `what` is "the
// report".
void check_folder_of(const std::filesystem::path& path, const std::string& what);
// Before any work: throws UsageError where no page can be written to `path`, as there is no such
// folder or what is there is no page. Empty: none is asked for.
void check_report_path(const std::filesystem::path& path);

// The names of the data sets that a cache was made of, for the title of a page.
std::string title_of(const pipeline::Manifest& manifest);
// Why the page of a cache without pictures has none.
inline constexpr const char* kNoPicturesInCache =
    "There are no pictures: the cache holds fingerprints only. Ingest with --store original.";

// Writes the page of some groups (report/gallery_make.h) durably and says so. Throws StoppedError.
void write_gallery(const Session& session, const GalleryInput& input, const GallerySubject& subject,
                   const std::filesystem::path& path);
// The same of a deduplication. `classes`: names by label.
void write_gallery(const Session& session, const Deduplicated& what,
                   std::span<const std::string> classes, const GallerySubject& subject,
                   const std::filesystem::path& path);

}  // namespace winnow::app
