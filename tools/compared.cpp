#include "tools/compared.h"

#include <fmt/core.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/dedup_flags.h"
#include "tools/dedup_search.h"

namespace winnow::tools {

void tell_verified(const Session& session, const Verified& what, const std::string& hash,
                   const dedup::Calibration& calibration, double least_probability) {
  const dedup::VerifyCounts& counts = what.counts;
  say(session,
      fmt::format("verify: {} pairs of {} candidates show one picture; of those near by {}, {} are "
                  "refused and {} have too few details to tell, so codes decide",
                  grouped(counts.verified), grouped(counts.candidates), hash, grouped(what.refused),
                  grouped(what.undecided)));
  const double strangers = static_cast<double>(counts.registered - counts.verified);
  if (what.raised_by_labels) {
    say(session,
        fmt::format("verify: each with a probability of {:.4g} or more, for labels of less "
                    "probable pairs differ: these pictures are alike without being one, so look "
                    "at pairs with --report",
                    least_probability));
    return;
  }
  say(session,
      fmt::format("verify: each with a probability of {:.4g} or more; {:.2g} false pairs "
                  "are expected among them, by {} pairs of different pictures",
                  least_probability, calibration.expected_false(strangers, least_probability),
                  grouped(calibration.strangers)));
}

dedup::VerifyOptions verify_options(const ChoiceFlags& choice) {
  if (choice.least_probability) return {.least_probability = *choice.least_probability};
  return {.least_probability = kLeastProbability, .most_false = kMostFalsePairs};
}

dedup::ToldLinks by_pictures(const Session& session, dedup::VerifyOptions how,
                             const std::string& hash, const dedup::ColumnSource& columns,
                             const dedup::ThumbnailSource& thumbnails,
                             const dedup::LinkSource& links, dedup::Options& options) {
  if (options.hash == dedup::kExact) {  // no codes would do
    options.hash = hash;
    options.threshold = 0;
  }
  how.search = search_options(session);
  auto found = std::make_shared<dedup::VerifiedLinks>(
      dedup::verify_links(columns, thumbnails, options, links, how));
  const dedup::Verification& verification = found->verification;
  tell_verified(
      session,
      {verification.counts, found->refused, verification.undecided.size(), found->raised_by_labels},
      options.hash, found->calibration, found->least_probability);
  options.matching.verified = found->least_probability;
  return {dedup::links_of(found), found};
}

dedup::ToldLinks settle_links(const Session& session, const ChoiceFlags& choice,
                              const FeatureFlags& features, const pipeline::Cache& cache,
                              const dedup::SharedWork& work, dedup::ColumnSource& columns,
                              dedup::Options& options) {
  if (features.any()) {
    return {by_features(session, features, cache, columns, options)};
  }
  const std::vector<std::string> stored = stored_hashes(cache);
  dedup::LinkSource links = settle(session, choice, columns, stored, work.links, options);
  if (!choice.verify) return {std::move(links)};
  dedup::VerifyOptions how = verify_options(choice);
  how.steps = work.steps;
  return by_pictures(session, std::move(how), stored.front(), columns, cache.open_thumbnails(),
                     links, options);
}

}  // namespace winnow::tools
