#include "app/dedup/compared.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <memory>
#include <utility>

#include "app/dedup/search.h"
#include "app/words.h"
#include "dedup/audit/measures.h"
#include "dedup/decisions/settings.h"
#include "dedup/verify/best_order.h"
#include "dedup/verify/colours.h"
#include "dedup/verify/estimate.h"
#include "dedup/verify/shown.h"
#include "pipeline/store/features.h"

namespace winnow::app {

namespace {

std::string why(const dedup::LeastProbability& least, const std::string& hash) {
  if (least.raised_by_labels) {
    return ", because less probable pairs carry different labels: these pictures look alike "
           "without being copies, so look at the pairs with --report";
  }
  if (least.raised_by_look_alikes) {
    return fmt::format("{}, because many of these pictures look alike without being copies",
                       least.far ? fmt::format(", and {} where their {} codes are far apart",
                                               dedup::in_digits(*least.far), hash)
                                 : fmt::format(", and near {} codes", hash));
  }
  return {};
}

}  // namespace

void tell_verified(const Session& session, const Verified& what, const std::string& hash) {
  const dedup::VerifyCounts& counts = what.counts;
  if (what.look_alikes > 0) {
    say(session,
        fmt::format(
            "verify: {} alike but {} not shown to be copies (pages of one layout, shots of one "
            "place): {}",
            count_of(what.look_alikes, "pair looks", "pairs look"),
            what.look_alikes == 1 ? "is" : "are",
            what.is_answer ? "left out" : "nothing is removed for that (--list-look-alikes FILE)"));
  }
  say(session, fmt::format("verify: {} compared: {} the same picture; rejected although their {} "
                           "codes are near: {}",
                           count_of(counts.candidates, "candidate pair"),
                           count_of(counts.verified, "pair shows", "pairs show"), hash,
                           count_of(what.refused, "pair")));
  if (what.undecided > 0) {
    say(session, fmt::format("verify: {} too few details to compare, so {} codes decide",
                             count_of(what.undecided, "pair has", "pairs have"), hash));
  }
  if (what.looked_closer > 0) {
    say(session,
        fmt::format("verify: {} also compared at a larger size",
                    count_of(what.looked_closer, "doubtful pair was", "doubtful pairs were")));
  }
  if (what.skipped > 0) {
    say(session, fmt::format("verify: {} compared as thumbnails only, because each picture has at "
                             "most eight pairs compared at a larger size",
                             count_of(what.skipped, "doubtful pair was", "doubtful pairs were")));
  }
  if (what.collages > 0) {
    say(session, fmt::format("verify: {}, and no copies",
                             count_of(what.collages, "picture is a collage of others",
                                      "pictures are collages of others")));
  }
  say(session,
      what.kept.least.only_shown
          ? "verify: a copy must match block by block, because no probability separates copies "
            "from other pictures here: they look too much alike"
          : fmt::format("verify: copies need a probability of {}{}",
                        dedup::in_digits(what.kept.least.near), why(what.kept.least, hash)));
  if (what.kept.least.raised_by_labels) return;
  say(session,
      fmt::format("verify: about {:.2g} of these pairs are expected to be wrong, at most "
                  "{} with 95 % confidence (estimated from {} pairs of different pictures)",
                  what.kept.expected_false,
                  grouped(dedup::most_false_pairs(what.kept.expected_false)),
                  grouped(what.non_duplicates)));
}

dedup::VerifyOptions verify_options(const ChoiceOptions& choice) {
  if (choice.least_probability) return {.least_probability = *choice.least_probability};
  return {.least_probability = kLeastProbability, .most_false = kMostFalsePairs};
}

namespace {

// Says what comparing many pictures will take, estimated on a sample before the search.
dedup::BeforeSearch tell_estimate(const Session& session) {
  return [&session](std::span<const std::uint32_t> rows, const dedup::PictureSource& pictures,
                    std::span<const dedup::Edge> near, const dedup::MatchModel& model,
                    const dedup::VerifyOptions& how) {
    constexpr std::size_t kFew = 2000;  // fewer are compared before one has read the line
    if (rows.size() <= kFew) return;
    // CPU time of this process: it does not depend on how busy the machine is.
    const auto seconds = [] { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; };
    const dedup::VerifyEstimate estimate =
        dedup::estimate_verification(rows, pictures, near, model, how, seconds);
    say(session,
        fmt::format("verify: comparing {} pictures, about {} pairs, takes about {} of a core and "
                    "{:.1f} GB (estimated from {} of them)",
                    grouped(rows.size()), grouped(static_cast<std::uint64_t>(estimate.trials)),
                    in_seconds(estimate.core_seconds), estimate.bytes / 1e9,
                    grouped(estimate.sampled)));
  };
}

// Verifies links from codes or features by the pictures, and reports the result.
dedup::LinksWithEvidence by_pictures(const Session& session, dedup::VerifyOptions how,
                                     const Images& images, const dedup::ColumnSource& columns,
                                     const dedup::LinkSource& links, dedup::Options& options) {
  if (options.hash == dedup::kExact) {  // no codes would do
    options.hash = images.hashes.front();
    options.threshold = 0;
  }
  how.search = search_options(session);
  how.landmarks = images.landmarks;
  how.closer = closer_pictures(images.picture_of, columns);
  auto found = std::make_shared<dedup::VerifiedLinks>(
      dedup::verify_links(columns, images.thumbnails, options, links, how, tell_estimate(session)));
  const dedup::Verification& verification = found->verification;
  tell_verified(session,
                {verification.counts, found->refused, verification.undecided.size(), found->kept,
                 found->calibration.non_duplicates, found->looked_closer, found->skipped,
                 found->look_alikes.size(), found->collages.size()},
                options.hash);
  options.matching.verified = found->kept.least.near;
  if (options.policy.keep == dedup::KeepPolicy::kBest) {
    options.policy.preferred = dedup::best_order(columns, images.thumbnails, *found, how);
  }
  return {dedup::links_of(found), found};
}

// Whether most pictures are so large that a closer look shows more than their landmarks.
bool are_mostly_large(const dedup::Fingerprints& sizes, std::span<const std::uint32_t> rows) {
  const auto large = std::ranges::count_if(rows, [&](std::uint32_t row) {
    return std::uint64_t{sizes.widths_px[row]} * sizes.heights_px[row] >= dedup::kCloserPixels;
  });
  return 2 * static_cast<std::size_t>(large) >= rows.size();
}

}  // namespace

std::string why_not_looked_at(std::span<const std::uint32_t> rows,
                              const dedup::ColumnSource& columns, const Images& images) {
  if (rows.size() > kMostUnasked) {
    return fmt::format(
        "pictures of {} images are not compared unless asked for: --verify finds crops, frames and "
        "turned copies, in about {} minutes of a core",
        grouped(rows.size()), grouped(rows.size() / 60'000));
  }
  const dedup::Fingerprints sizes = columns({"widths_px", "heights_px"});
  if (are_mostly_large(sizes, rows)) return {};
  const double details =
      images.landmarks_a_picture
          ? images.landmarks_a_picture()
          : dedup::landmarks_a_picture(rows, dedup::pictures_of(sizes, images.thumbnails));
  if (details >= kLeastDetails) return {};
  return fmt::format(
      "pictures with so few details (about {:.0f} landmarks) are only compared by codes unless "
      "--verify is given",
      details);
}

bool verifies_unasked(const Session& session, const ChoiceOptions& choice,
                      const dedup::ColumnSource& columns, const Images& images) {
  if (choice.hash != kAuto || choice.threshold || choice.risk || choice.precision) return false;
  if (!images.thumbnails) return false;
  const std::vector<std::uint32_t> rows =
      dedup::matchable_rows(columns({"quality"}), dedup::kExact);
  if (rows.empty()) return false;
  const std::string why_not = why_not_looked_at(rows, columns, images);
  if (!why_not.empty()) say(session, why_not);
  return why_not.empty();
}

dedup::CloserSource closer_pictures(const pipeline::PictureOf& picture_of,
                                    const dedup::ColumnSource& columns) {
  if (!picture_of) return {};
  const auto table = std::make_shared<const dedup::Fingerprints>(columns({"audit"}));
  // Twice this is longer than the sides that are compared, which hides a JPEG's scaled decoding.
  const auto side_px = [](int pixels) {
    return static_cast<int>(std::lround(1.26 * std::sqrt(pixels)));
  };
  dedup::CloserSource closer;
  closer.gray = [=](std::uint32_t row, int pixels) {
    const auto picture = picture_of(table->ids[row], side_px(pixels));
    return picture ? dedup::closer_picture(picture->view(), pixels) : std::nullopt;
  };
  closer.colours = [=](std::uint32_t row) -> std::optional<Image> {
    if (!table->audit.empty() && dedup::is_gray(table->audit[row])) return std::nullopt;
    const auto picture =
        picture_of(table->ids[row], side_px(dedup::kColourSide * dedup::kColourSide));
    return picture ? dedup::colours_of(picture->view()) : std::nullopt;
  };
  return closer;
}

namespace {

// Puts what was settled into `options`. Returns the search.
dedup::LinkSource apply_choice(Settled settled, dedup::Options& options) {
  options.hash = std::move(settled.hash);
  options.threshold = settled.threshold;
  options.chosen_by = std::move(settled.chosen_by);
  return std::move(settled.links);
}

// With few images, codes may be near by chance. If no flag chose codes and no pictures were
// compared, only equal files and pixels count.
void take_few_by_pixels(const Session& session, const ChoiceOptions& choice,
                        const dedup::ColumnSource& columns, dedup::Options& options) {
  const bool is_asked =
      choice.hash != kAuto || !chooses(choice) || choice.risk || choice.precision || choice.verify;
  if (is_asked || options.hash == dedup::kExact) return;
  const std::size_t count =
      dedup::matchable_rows(columns({"quality"}), options.hash, options.matching.least_quality)
          .size();
  if (count == 0 || count >= dedup::kFewestToFit) return;
  say(session,
      fmt::format("{} too few to tell which codes are near by chance, so only equal files and "
                  "pixels count as duplicates: --hash {} also compares codes, and --verify "
                  "compares pictures",
                  count_of(count, "image is", "images are"), options.hash));
  options.hash = dedup::kExact;
  options.threshold = 0;
}

}  // namespace

Images images_of(const pipeline::Cache& cache, pipeline::PictureOf picture_of) {
  return {.hashes = stored_hashes(cache),
          .thumbnails = cache.open_thumbnails(),
          .picture_of = std::move(picture_of),
          .features_of = [&cache](const std::string& name) {
            return pipeline::read_features(cache, name);
          }};
}

dedup::ShownPairs shown_by(const Session& session, const Images& images,
                           const dedup::ColumnSource& columns) {
  if (!images.thumbnails) return {};
  return [stop = session.stop, thumbnails = images.thumbnails,
          columns](std::span<const dedup::Edge> pairs) {
    const dedup::Fingerprints sizes = columns({"widths_px", "heights_px"});
    return dedup::are_shown(pairs, dedup::pictures_of(sizes, thumbnails), stop);
  };
}

dedup::LinksWithEvidence settle_links(const Session& session, const ComparedBy& by,
                                      const Images& images, const dedup::SharedWork& work,
                                      dedup::ColumnSource& columns, dedup::Options& options) {
  const auto& [choice, features] = by;
  const bool looks = choice.verify
                         ? *choice.verify
                         : !features.any() && verifies_unasked(session, choice, columns, images);
  dedup::LinkSource links;
  if (features.any()) {
    links = by_features(session, features, images.features_of(features.name), columns, options);
  } else {
    Settled settled = settle_choice(session, choice, columns, images.hashes, work.links,
                                    shown_by(session, images, columns));
    for (const std::string& sentence : settled.why) {
      if (!looks) say(session, sentence);  // no hint about codes if pictures are compared
    }
    links = apply_choice(std::move(settled), options);
  }
  if (!looks) {
    if (choice.verify && images.thumbnails && options.hash != dedup::kExact) {
      say(session,
          "pictures are not compared, only their codes: pages, cards and screenshots with the same "
          "layout may count as copies");
    }
    if (!features.any()) take_few_by_pixels(session, choice, columns, options);
    return {std::move(links)};
  }
  dedup::VerifyOptions how = verify_options(choice);
  how.steps = work.steps;
  return by_pictures(session, std::move(how), images, columns, links, options);
}

}  // namespace winnow::app
