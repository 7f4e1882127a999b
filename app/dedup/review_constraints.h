#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "app/session.h"
#include "dedup/decisions/deduplicate.h"
#include "dedup/policy/precedence.h"
#include "dedup/review/decided.h"
#include "pipeline/store/cache.h"

namespace winnow::app {

// Decisions of the user that a deduplication must follow: reviews, --protect and --prefer.
struct ReviewConstraints {
  std::vector<std::filesystem::path> reviews;
  dedup::Globs globs;
};

// Throws, as read_review(), if one of the files is not a review. Call it before any work.
void check_reviews(const std::vector<std::filesystem::path>& reviews);
// Reads review files. Tells the user if the last line of a file was cut off.
std::vector<dedup::Review> read_reviews(const Session& session,
                                        const std::vector<std::filesystem::path>& reviews);
// Reads reviews and returns what they decide about the rows of a table; returns nullptr if
// `reviews` is empty. Throws as read_review() and apply_to_rows().
std::shared_ptr<const dedup::Decided> decided_by(const Session& session,
                                                 const std::vector<std::filesystem::path>& reviews,
                                                 const dedup::ColumnSource& columns);
// Names of a cache's samples, read from its ledger. The cache must outlive the result.
dedup::NameSource names_in(const pipeline::Cache& cache);

// Puts reviews, --protect and --prefer into `options`.
//
// names   names of the samples in `columns`; may have names of others, too
// Throws  UsageError: no image matches a pattern of --protect; for --prefer the user is only told
void apply_constraints(const Session& session, const ReviewConstraints& constraints,
                       const dedup::ColumnSource& columns, const dedup::NameSource& names,
                       dedup::Options& options);

// Tells the user how many judgements of reviews apply.
void report_constraints(const Session& session, const dedup::Decided& decided);
// Tells the user which judgements of reviews were applied, and which could not be.
void report_constraints(const Session& session, const dedup::Options& options,
                        const dedup::Result& result);

}  // namespace winnow::app
