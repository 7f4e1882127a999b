#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "tools/command.h"
#include "tools/dedup_lists.h"
#include "tools/report/gallery_make.h"

namespace winnow::tools {

// Before any work: throws UsageError where no page can be written to `path`, as there is no such
// folder or what is there is no page.
void check_report_path(const std::filesystem::path& path);

// Writes the page of a deduplication (report/gallery_make.h) durably and says so. `classes`: names
// by label. Throws StoppedError.
void write_gallery(const Session& session, const Deduplicated& what,
                   std::span<const std::string> classes, const GallerySubject& subject,
                   const std::filesystem::path& path);

}  // namespace winnow::tools
