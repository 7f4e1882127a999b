#pragma once

#include <cstdint>
#include <string>

#include "app/session.h"
#include "common/json.h"
#include "dedup/split/folds.h"
#include "dedup/split/split.h"
#include "pipeline/store/manifest.h"

// Output of `winnow split` for splits and folds.
namespace winnow::app {

// The name of the selection in which this fold, from 1, is val.
std::string fold_name(const std::string& name, std::uint32_t fold);

// Prints a table on stdout, and the classes that are off.
void print_splits(const Session& session, const dedup::SplitSummary& summary,
                  const pipeline::Manifest& manifest);
void print_folds(const Session& session, const dedup::FoldsSummary& summary,
                 const std::string& name, const pipeline::Manifest& manifest);

// Sentences on stderr.
void tell(const Session& session, const dedup::SplitSummary& summary);
void tell(const Session& session, const dedup::FoldsSummary& summary);

// --json. Pure.
Json json_of_splits(const dedup::SplitSummary& summary, const dedup::SplitOptions& options,
                    const pipeline::Manifest& manifest);
Json json_of_folds(const dedup::FoldsSummary& summary, const std::string& name,
                   const dedup::SplitOptions& options, const pipeline::Manifest& manifest);

}  // namespace winnow::app
