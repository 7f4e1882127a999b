#include "app/dedup/choice.h"

#include <fmt/format.h>

#include <cmath>

#include "app/words.h"
#include "common/error.h"
#include "dedup/hash/hashes.h"
#include "dedup/tune/finds.h"

namespace winnow::app {
namespace {

using dedup::HashAndThreshold;
using dedup::ThresholdReason;

std::string wanted(const dedup::Demand& demand) {
  return demand.precision ? fmt::format("a precision of {:.1f} %", 100 * *demand.precision)
                          : fmt::format("fewer than {:g} false pairs expected", demand.risk);
}

void refuse(const ChoiceOptions& flags) {
  throw RefusedError(fmt::format(
      "no threshold for {} meets the demand ({}), not even 0 bits; demand less, name another "
      "--hash, or list all thresholds with winnow tune",
      flags.hash == kAuto ? "the stored hashes" : flags.hash, wanted(demand_of(flags))));
}

}  // namespace

void check_choice(const ChoiceOptions& flags, const std::string& prefix) {
  if (flags.least_probability && !flags.verify.value_or(true)) {
    throw UsageError(prefix + "least-probability is a limit for compared pictures, but " + prefix +
                     "no-verify compares none; leave out one of the two flags");
  }
  if (flags.verify.value_or(false) && flags.hash == dedup::kExact) {
    throw UsageError(prefix + "verify compares pictures that are not equal, but " + prefix +
                     "hash exact finds equal pictures only; leave out one of the two flags");
  }
  if (flags.hash == dedup::kExact && flags.least_quality) {
    throw UsageError(prefix + "least-quality limits which images are compared by codes, but " +
                     prefix + "hash exact compares no codes; leave one of the two flags out");
  }
  if (flags.hash == dedup::kExact && (flags.risk || flags.precision)) {
    throw UsageError(prefix + "risk and " + prefix +
                     "precision choose a threshold for codes, but " + prefix +
                     "hash exact compares no codes; leave one of these flags out");
  }
}

void check_hash(const ChoiceOptions& flags) {
  const std::string hash = hash_of(flags);
  if (hash == dedup::kExact || hash == kAuto) return;
  dedup::check_threshold(hash, flags.threshold.value_or(0));
}

dedup::Demand demand_of(const ChoiceOptions& flags) noexcept {
  dedup::Demand demand;
  demand.risk = flags.risk.value_or(demand.risk);
  demand.precision = flags.precision;
  demand.least_quality = flags.least_quality;
  return demand;
}

std::string hash_of(const ChoiceOptions& flags) {
  return flags.hash == kAuto && flags.threshold ? "phash" : flags.hash;
}

bool chooses(const ChoiceOptions& flags) noexcept {
  return flags.hash != dedup::kExact && !flags.threshold;
}

std::vector<std::string> hashes_for(const ChoiceOptions& flags) {
  const std::string hash = hash_of(flags);
  if (hash == dedup::kExact || hash == kAuto) return {};
  return {hash};
}

void say_if_small(const Session& session, const std::string& hash, int threshold) {
  const int usual = dedup::usual_threshold(hash);
  if (threshold <= 0 || 5 * threshold > usual) return;
  say(session,
      fmt::format("{} small for {}, whose codes are long: only equal pictures are that near; "
                  "the usual threshold is {}",
                  count_of(static_cast<std::uint64_t>(threshold), "bit is", "bits are"), hash,
                  usual));
}

Settled settle_choice(const Session& session, const ChoiceOptions& flags,
                      const dedup::ColumnSource& columns, std::span<const std::string> stored,
                      const dedup::LinkSource& links, const dedup::ShownPairs& shown) {
  if (!chooses(flags)) {
    Settled settled{hash_of(flags), flags.threshold.value_or(0), {}, links};
    say_if_small(session, settled.hash, settled.threshold);
    return settled;
  }
  const bool is_auto = flags.hash == kAuto;
  const dedup::Demand demand = demand_of(flags);
  const dedup::ChosenBy chosen_by{demand.precision
                                      ? fmt::format("precision {:g}", *demand.precision)
                                      : fmt::format("risk {:g}", demand.risk),
                                  is_auto};
  const std::uint64_t images = columns({}).size();
  const auto hashes = is_auto ? dedup::worth_comparing(stored, images) : std::vector{flags.hash};
  if (images == 0) {  // nothing to choose by
    return {hashes.front(), dedup::usual_threshold(hashes.front()), chosen_by, links};
  }
  if (is_auto && hashes.size() < stored.size()) {
    say(session, fmt::format("{} images are many, so only codes of up to 64 bits are compared; "
                             "longer codes are compared if --hash names them",
                             grouped(images)));
  }
  auto chosen = dedup::measure_and_choose(columns, hashes, demand, links, shown);
  if (!chosen) {
    if (!is_auto || demand.precision) refuse(flags);
    return {std::string(dedup::kExact),
            0,
            chosen_by,
            links,
            {fmt::format("no stored hash has {} among {}, so only equal files and pixels count as "
                         "duplicates",
                         wanted(demand), count_of(images, "image"))}};
  }
  Settled settled{chosen->choice.hash,
                  chosen->choice.threshold,
                  chosen_by,
                  std::move(chosen->links),
                  {in_words(chosen->choice, demand)}};
  if (chosen->choice.alike) settled.why.push_back(in_words(*chosen->choice.alike));
  return settled;
}

std::string in_words(const HashAndThreshold& choice, const dedup::Demand& demand) {
  std::string words =
      fmt::format("{} within {} of {}: ", choice.hash,
                  count_of(static_cast<std::uint64_t>(choice.threshold), "bit"), choice.bits);
  switch (choice.reason) {
    case ThresholdReason::kFewImages:
      words += fmt::format("its usual threshold, because {} too few to measure it",
                           count_of(choice.images, "image is", "images are"));
      break;
    case ThresholdReason::kNoPairs:
      words +=
          fmt::format("its usual threshold, because no two of {} are near enough to measure it",
                      count_of(choice.images, "image"));
      break;
    case ThresholdReason::kRisk:
      words += fmt::format("{} among {}", wanted(demand), count_of(choice.images, "image"));
      break;
    case ThresholdReason::kPrecision:
    case ThresholdReason::kSearchLimit:
      words += fmt::format("about {:.0f} of {} pairs are false", choice.false_pairs,
                           grouped(choice.pairs));
      break;
  }
  if (choice.reason == ThresholdReason::kSearchLimit) {
    words += fmt::format("; larger distances than {} bits were not searched", choice.threshold);
  }
  const std::string finds = dedup::finds_in_words(choice.hash, choice.threshold);
  return finds.empty() ? words : words + "; of edited photos it " + finds;
}

std::string in_words(const dedup::Alike& alike) {
  const std::string what =
      alike.by_class
          ? fmt::format(
                "about {2} of {0} pairs within {1} bits are false by their labels, although chance "
                "alone would allow that threshold",
                grouped(alike.pairs), alike.allowed,
                grouped(static_cast<std::uint64_t>(std::llround(alike.expected))))
          : fmt::format(
                "chance alone would allow {} bits, but {} pairs are between that and {}, where "
                "chance explains {:.0f}",
                alike.allowed, grouped(alike.pairs), alike.beyond, alike.expected);
  return fmt::format(
      "warning: many images here look alike, so codes alone are unreliable beyond this threshold "
      "({}): "
      "look at pairs with winnow review, or use --hash exact",
      what);
}

}  // namespace winnow::app
