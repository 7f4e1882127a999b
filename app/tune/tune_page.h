#pragma once

#include <filesystem>
#include <string>

#include "app/page/gallery_page.h"
#include "app/session.h"
#include "app/tune/tune_report.h"
#include "dedup/table/fingerprints.h"
#include "pipeline/store/cache.h"

namespace winnow::app {

// What the page of `winnow tune` says around its pairs: curves with the thresholds that are chosen
// for the demand, and the tables. `cache`: as the recommended command line names it. Pure.
GalleryFrame tune_frame(const Measured& measured, const ChoiceOptions& flags,
                        const std::string& cache);

// Writes that page, durably, with pairs around the recommended threshold, or the usual one: drawn
// as `winnow review --sample` draws them, so that what is judged of them tells how precise it is.
// Says so. Throws StoppedError.
void write_tune_page(const Session& session, const pipeline::Cache& cache,
                     const dedup::ColumnSource& columns, const Measured& measured,
                     const ChoiceOptions& flags, const std::filesystem::path& path);

}  // namespace winnow::app
