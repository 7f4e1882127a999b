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

// Decisions of people that a deduplication must follow: reviews, --protect and --prefer.
struct ReviewConstraints {
  std::vector<std::filesystem::path> reviews;
  dedup::Globs globs;
};

// Throws, before any work, like read_review() if one of the files is no review.
void check_reviews(const std::vector<std::filesystem::path>& reviews);
// Reads them. Says so if a last line was cut off.
std::vector<dedup::Review> read_reviews(const Session& session,
                                        const std::vector<std::filesystem::path>& reviews);
// Applies reviews to the rows of a table; nullptr if there are none. Throws like read_review() and
// apply_to_rows().
std::shared_ptr<const dedup::Decided> decided_by(const Session& session,
                                                 const std::vector<std::filesystem::path>& reviews,
                                                 const dedup::ColumnSource& columns);
// Names of samples in the ledger. The cache must outlive the result.
dedup::NameSource names_in(const pipeline::Cache& cache);

// Puts all constraints into `options`.
//
// names   of the table's samples, and perhaps of others
// Throws  UsageError: no image matches a pattern of --protect. For --prefer it is only reported.
void apply_constraints(const Session& session, const ReviewConstraints& constraints,
                       const dedup::ColumnSource& columns, const dedup::NameSource& names,
                       dedup::Options& options);

// Says how many judgements are applied.
void report_constraints(const Session& session, const dedup::Decided& decided);
// Says which judgements were applied and which were not.
void report_constraints(const Session& session, const dedup::Options& options,
                        const dedup::Result& result);

}  // namespace winnow::app
