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

// What people said that a deduplication obeys.
struct Obeyed {
  std::vector<std::filesystem::path> reviews;
  dedup::Globs globs;
};

// Throws as read_review() where one of the files is none, before any work.
void check_reviews(const std::vector<std::filesystem::path>& reviews);
// Reads them, and says where a last line was cut off.
std::vector<dedup::Review> read_reviews(const Session& session,
                                        const std::vector<std::filesystem::path>& reviews);
// Puts reviews to a table; nullptr where there are none. Throws as read_review and put_to_rows do.
std::shared_ptr<const dedup::Decided> decided_by(const Session& session,
                                                 const std::vector<std::filesystem::path>& reviews,
                                                 const dedup::ColumnSource& columns);
// What the ledger calls samples. The cache must outlive it.
dedup::NameSource names_in(const pipeline::Cache& cache);

// Puts all of it into `options`. `names`: of the table's samples, and perhaps of others.
// UsageError where no image of some is called as --protect says; for --prefer that is said.
void obey(const Session& session, const Obeyed& obeyed, const dedup::ColumnSource& columns,
          const dedup::NameSource& names, dedup::Options& options);

// Says how many judgements are obeyed.
void tell_obeyed(const Session& session, const dedup::Decided& decided);
// Says what was obeyed and what was not.
void tell_obeyed(const Session& session, const dedup::Options& options,
                 const dedup::Result& result);

}  // namespace winnow::app
