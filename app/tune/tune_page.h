#pragma once

#include <filesystem>
#include <string>

#include "app/page/gallery_page.h"
#include "app/session.h"
#include "app/tune/tune_report.h"
#include "dedup/table/fingerprints.h"
#include "pipeline/store/cache.h"

namespace winnow::app {

// Texts for the page of `winnow tune` around its pairs: curves with the chosen thresholds, and
// tables. `cache`: the cache's name in the recommended command. Pure.
GalleryFrame tune_frame(const Measured& measured, const ChoiceOptions& flags,
                        const std::string& cache);

// Writes the page of `winnow tune` durably, and tells the user. It shows pairs near the recommended
// threshold, or near the default one if none is recommended. They are sampled as by `winnow review
// --sample`, so that judging them measures the precision. Throws StoppedError.
void write_tune_page(const Session& session, const pipeline::Cache& cache,
                     const dedup::ColumnSource& columns, const Measured& measured,
                     const ChoiceOptions& flags, const std::filesystem::path& path);

}  // namespace winnow::app
