#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "app/dedup/lists.h"
#include "app/page/gallery_make.h"
#include "app/session.h"
#include "pipeline/store/manifest.h"

namespace winnow::app {

// Throws UsageError if the folder for this file does not exist. Call it before any work. `what`:
// name of the file in the message, "the report".
void check_folder_of(const std::filesystem::path& path, const std::string& what);
// Throws UsageError if no page can be written to `path`: its folder does not exist, or an existing
// file there is not a page of winnow. Call it before any work. An empty path is accepted.
void check_report_path(const std::filesystem::path& path);

// The names of a cache's data sets, as the title of a page.
std::string title_of(const pipeline::Manifest& manifest);
// The reason why the page about a cache has no pictures.
inline constexpr const char* kNoPicturesInCache =
    "There are no pictures: the cache holds fingerprints only. Ingest with --store original.";

// Writes a page with groups of images (gallery_make.h) durably, and tells the user. Throws
// StoppedError.
void write_gallery(const Session& session, const GalleryInput& input, const GallerySubject& subject,
                   const std::filesystem::path& path);
// Writes the page of a deduplication. `classes`: names of the classes by label.
void write_gallery(const Session& session, const Deduplicated& what,
                   std::span<const std::string> classes, const GallerySubject& subject,
                   const std::filesystem::path& path);

}  // namespace winnow::app
