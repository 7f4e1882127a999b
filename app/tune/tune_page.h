#pragma once

#include <filesystem>
#include <string>

#include "app/page/gallery_page.h"
#include "app/session.h"
#include "app/tune/tune_report.h"
#include "dedup/table/fingerprints.h"
#include "pipeline/store/cache.h"

namespace winnow::app {

// The frame of the page of `winnow tune` around its pairs: curves with the thresholds that meet the
// demand, and tables. `cache`: its name in the recommended command. Pure.
GalleryFrame tune_frame(const Measured& measured, const ChoiceOptions& flags,
                        const std::string& cache);

// Writes the page, durably, and says so. Its pairs are near the recommended threshold, or else the
// usual one, drawn as by `winnow review --sample`, so that judgements of them tell the precision.
// Throws StoppedError.
void write_tune_page(const Session& session, const pipeline::Cache& cache,
                     const dedup::ColumnSource& columns, const Measured& measured,
                     const ChoiceOptions& flags, const std::filesystem::path& path);

}  // namespace winnow::app
