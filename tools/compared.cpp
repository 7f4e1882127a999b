#include "tools/compared.h"

#include <fmt/core.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dedup/verify/verified_links.h"
#include "tools/dedup_flags.h"
#include "tools/dedup_search.h"

namespace winnow::tools {
namespace {

void tell(const Session& session, const dedup::VerifiedLinks& found, const std::string& hash) {
  const dedup::VerifyCounts& counts = found.verification.counts;
  say(session,
      fmt::format("verify: {} pairs of {} candidates show one picture; of those near by {}, {} are "
                  "refused and {} have too few details to tell, so codes decide",
                  grouped(counts.verified), grouped(counts.candidates), hash,
                  grouped(found.refused), grouped(found.verification.undecided.size())));
  const double strangers = static_cast<double>(counts.registered - counts.verified);
  say(session,
      fmt::format("verify: {:.2g} false pairs are expected among them, by {} pairs of different "
                  "pictures",
                  found.calibration.expected_false(strangers, found.least_probability),
                  grouped(found.calibration.strangers)));
}

// Puts links by codes to the pictures.
dedup::LinkSource verified(const Session& session, double least_probability,
                           const pipeline::Cache& cache, const std::string& a_stored_hash,
                           const dedup::ColumnSource& columns, const dedup::LinkSource& links,
                           dedup::Options& options) {
  if (options.hash == dedup::kExact) {  // no codes would do
    options.hash = a_stored_hash;
    options.threshold = 0;
  }
  auto found = std::make_shared<dedup::VerifiedLinks>(dedup::verify_links(
      columns, cache.open_thumbnails(), options, links,
      {.least_probability = least_probability, .search = search_options(session)}));
  tell(session, *found, options.hash);
  options.matching.verified = least_probability;
  return dedup::links_of(std::move(found));
}

}  // namespace

dedup::LinkSource settle_links(const Session& session, const ChoiceFlags& choice,
                               const FeatureFlags& features, const pipeline::Cache& cache,
                               const dedup::LinkSource& search, dedup::ColumnSource& columns,
                               dedup::Options& options) {
  if (features.any()) return by_features(session, features, cache, columns, options);
  const std::vector<std::string> stored = stored_hashes(cache);
  dedup::LinkSource links = settle(session, choice, columns, stored, search, options);
  if (!choice.verify) return links;
  return verified(session, choice.least_probability, cache, stored.front(), columns, links,
                  options);
}

}  // namespace winnow::tools
