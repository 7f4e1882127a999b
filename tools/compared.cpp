#include "tools/compared.h"

#include <fmt/core.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/dedup_flags.h"
#include "tools/dedup_search.h"

namespace winnow::tools {

namespace {

// With as many digits as tell it from 1.
std::string in_digits(double probability) {
  const double doubt = 1 - probability;
  if (doubt >= 1e-3) return fmt::format("{:.4g}", probability);
  return fmt::format("{:.{}f}", probability, static_cast<int>(std::ceil(-std::log10(doubt))));
}

std::string why(const dedup::LeastProbability& least, const std::string& hash) {
  if (least.raised_by_labels) {
    return ", for labels of less probable pairs differ: these pictures are alike without being "
           "one, so look at pairs with --report";
  }
  if (least.raised_by_look_alikes) {
    return fmt::format(
        ", and {}, for many of these pictures are alike without being one",
        least.far ? fmt::format("{} where they are not near by {}", in_digits(*least.far), hash)
                  : fmt::format("only where they are near by {}", hash));
  }
  return {};
}

}  // namespace

void tell_verified(const Session& session, const Verified& what, const std::string& hash) {
  const dedup::VerifyCounts& counts = what.counts;
  say(session,
      fmt::format("verify: {} pairs of {} candidates show one picture; of those near by {}, {} are "
                  "refused and {} have too few details to tell, so codes decide",
                  grouped(counts.verified), grouped(counts.candidates), hash, grouped(what.refused),
                  grouped(what.undecided)));
  if (what.looked_closer > 0) {
    say(session, fmt::format("verify: {} pairs were compared by larger pictures, too",
                             grouped(what.looked_closer)));
  }
  if (what.look_alikes > 0) {
    say(session, fmt::format("verify: {} pairs look alike as pages, charts or screens of one "
                             "layout do, and more differs in them than in copies: they stay",
                             grouped(what.look_alikes)));
  }
  if (what.collages > 0) {
    say(session, fmt::format("verify: {} pictures are collages of others, and copies of none",
                             grouped(what.collages)));
  }
  say(session, fmt::format("verify: each with a probability of {} or more{}",
                           in_digits(what.kept.least.near), why(what.kept.least, hash)));
  if (what.kept.least.raised_by_labels) return;
  say(session,
      fmt::format("verify: {:.2g} false pairs are expected among them, by {} pairs of different "
                  "pictures",
                  what.kept.expected_false, grouped(what.strangers)));
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
  tell_verified(session,
                {verification.counts, found->refused, verification.undecided.size(), found->kept,
                 found->calibration.strangers, found->looked_closer, found->look_alikes.size(),
                 found->collages.size()},
                options.hash);
  options.matching.verified = found->kept.least.near;
  return {dedup::links_of(found), found};
}

bool verifies_unasked(const Session& session, const ChoiceFlags& choice,
                      const dedup::ColumnSource& columns,
                      const dedup::ThumbnailSource& thumbnails) {
  if (choice.hash != kAuto || choice.threshold || choice.risk || choice.precision) return false;
  const std::vector<std::uint32_t> rows =
      dedup::matchable_rows(columns({"quality"}), dedup::kExact);
  if (!thumbnails || rows.empty()) return false;
  if (rows.size() > kMostUnasked) {
    say(session, fmt::format("{} images are too many to look at unasked: crops, frames and turned "
                             "copies are found with --verify, in some {} minutes of a core",
                             grouped(rows.size()), grouped(rows.size() / 60'000)));
    return false;
  }
  const double details = dedup::landmarks_a_picture(
      rows, dedup::pictures_of(columns({"widths_px", "heights_px"}), thumbnails));
  if (details >= kLeastDetails) return true;
  say(session, fmt::format("pictures with so few details (some {:.0f} landmarks) are compared by "
                           "codes alone unless --verify asks for more",
                           details));
  return false;
}

namespace {

dedup::CloserSource closer_pictures(const Images& images, std::vector<SampleId> ids) {
  if (!images.picture_of) return {};
  return [picture_of = images.picture_of, ids = std::move(ids)](std::uint32_t row, int pixels) {
    // Twice this is longer than what is compared, so that a JPEG's scaled decoding does not show.
    const int side_px = static_cast<int>(std::lround(1.26 * std::sqrt(pixels)));
    const auto picture = picture_of(ids[row], side_px);
    return picture ? dedup::closer_picture(picture->view(), pixels) : std::nullopt;
  };
}

}  // namespace

dedup::ToldLinks settle_links(const Session& session, const ChoiceFlags& choice,
                              const FeatureFlags& features, const Images& images,
                              const dedup::SharedWork& work, dedup::ColumnSource& columns,
                              dedup::Options& options) {
  const std::vector<std::string> stored = stored_hashes(images.cache);
  dedup::LinkSource links = features.any()
                                ? by_features(session, features, images.cache, columns, options)
                                : settle(session, choice, columns, stored, work.links, options);
  const dedup::ThumbnailSource thumbnails = images.cache.open_thumbnails();
  const bool looks =
      choice.verify ? *choice.verify
                    : !features.any() && verifies_unasked(session, choice, columns, thumbnails);
  if (!looks) {
    if (choice.verify && thumbnails && options.hash != dedup::kExact) {
      say(session,
          "pictures are not compared: codes take pages, cards and screens of one layout "
          "for copies");
    }
    return {std::move(links)};
  }
  dedup::VerifyOptions how = verify_options(choice);
  how.steps = work.steps;
  how.closer = closer_pictures(images, columns({}).ids);
  return by_pictures(session, std::move(how), stored.front(), columns, thumbnails, links, options);
}

}  // namespace winnow::tools
