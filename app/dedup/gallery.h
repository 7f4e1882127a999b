#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "app/dedup/lists.h"
#include "app/page/gallery_make.h"
#include "app/session.h"
#include "pipeline/store/manifest.h"

namespace winnow::app {

// Throws UsageError if the folder of this file does not exist. Called before any work. `what`: "the
// report".
void check_folder_of(const std::filesystem::path& path, const std::string& what);
// Throws UsageError if no page can be written to `path`: its folder does not exist, or the file
// there is no page. Called before any work. Empty: no page is asked for.
void check_report_path(const std::filesystem::path& path);

// The names of the cache's data sets, for the title of a page.
std::string title_of(const pipeline::Manifest& manifest);
// The reason why the page of a cache has no pictures.
inline constexpr const char* kNoPicturesInCache =
    "There are no pictures: the cache holds fingerprints only. Ingest with --store original.";

// Writes the page of some groups (report/gallery_make.h) durably and says so. Throws StoppedError.
void write_gallery(const Session& session, const GalleryInput& input, const GallerySubject& subject,
                   const std::filesystem::path& path);
// Writes the page of a deduplication. `classes`: names by label.
void write_gallery(const Session& session, const Deduplicated& what,
                   std::span<const std::string> classes, const GallerySubject& subject,
                   const std::filesystem::path& path);

}  // namespace winnow::app
