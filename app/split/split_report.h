#pragma once

#include <cstdint>
#include <string>

#include "app/session.h"
#include "common/json.h"
#include "dedup/split/folds.h"
#include "dedup/split/split.h"
#include "pipeline/store/manifest.h"

// Formats the results of `winnow split`, for splits and for folds.
namespace winnow::app {

// The name of the selection in which fold number `fold`, counted from 1, is val.
std::string fold_name(const std::string& name, std::uint32_t fold);

// Prints a table of the splits or folds, and the classes that are off their share, on stdout.
void print_splits(const Session& session, const dedup::SplitSummary& summary,
                  const pipeline::Manifest& manifest);
void print_folds(const Session& session, const dedup::FoldsSummary& summary,
                 const std::string& name, const pipeline::Manifest& manifest);

// Summarizes the splits or folds in sentences on stderr.
void tell(const Session& session, const dedup::SplitSummary& summary);
void tell(const Session& session, const dedup::FoldsSummary& summary);

// The results of `winnow split` as JSON, for --json. Pure.
Json json_of_splits(const dedup::SplitSummary& summary, const dedup::SplitOptions& options,
                    const pipeline::Manifest& manifest);
Json json_of_folds(const dedup::FoldsSummary& summary, const std::string& name,
                   const dedup::SplitOptions& options, const pipeline::Manifest& manifest);

}  // namespace winnow::app
