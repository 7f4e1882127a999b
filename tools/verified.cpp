#include "tools/verified.h"

#include <fmt/core.h>

#include <utility>

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

}  // namespace

dedup::LinkSource verify_where_asked(const Session& session, const ChoiceFlags& flags,
                                     const dedup::ColumnSource& columns,
                                     const dedup::ThumbnailSource& thumbnails,
                                     std::span<const std::string> stored, dedup::LinkSource links,
                                     dedup::Options& options) {
  if (!flags.verify) return links;
  if (options.hash == dedup::kExact) {
    options.hash = stored.front();
    options.threshold = 0;
  }
  auto found = std::make_shared<dedup::VerifiedLinks>(dedup::verify_links(
      columns, thumbnails, options, links,
      {.least_probability = flags.least_probability, .search = search_options(session)}));
  tell(session, *found, options.hash);
  options.matching.verified = flags.least_probability;
  return dedup::links_of(std::move(found));
}

}  // namespace winnow::tools
