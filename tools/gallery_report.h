#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "pipeline/export/thumbnails.h"
#include "tools/command.h"
#include "tools/dedup_lists.h"

namespace winnow::tools {

// What the page of a deduplication shows beside what was deduplicated.
struct GallerySubject {
  std::string title;  // the data set, as people call it
  std::span<const std::string> classes;
  pipeline::PictureOf picture_of;  // empty: there are none
  std::string no_pictures;         // why, as a sentence
};

// Before any work: throws UsageError where no page can be written to `path`, as there is no such
// folder or what is there is no page.
void check_report_path(const std::filesystem::path& path);

// Writes the page (report/gallery_page.h), durably, and says so. At most 2,000 groups are in it and
// their pictures are made so small that it stays below 50 MB. Throws StoppedError.
void write_gallery(const Session& session, const Deduplicated& what, const GallerySubject& subject,
                   const std::filesystem::path& path);

}  // namespace winnow::tools
