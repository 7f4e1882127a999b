#include "tools/choice_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "common/error.h"
#include "dedup/hash/hashes.h"
#include "dedup/tune/finds.h"

namespace winnow::tools {
namespace {

using dedup::HashAndThreshold;
using dedup::ThresholdReason;

// Beyond, a search of all pairs of longer codes takes too long to be begun unasked: of two million,
// four minutes of one core.
constexpr std::uint64_t kMostImagesOfLongCodes = 2'000'000;

// Of the stored hashes those that are looked at unasked.
std::vector<std::string> candidates(std::span<const std::string> stored, std::uint64_t images) {
  std::vector<std::string> all(stored.begin(), stored.end());
  const auto is_short = [](const std::string& hash) {
    return dedup::find_hash(hash).row->bits <= 64;
  };
  if (images <= kMostImagesOfLongCodes || std::ranges::none_of(all, is_short)) return all;
  std::erase_if(all, [&](const std::string& hash) { return !is_short(hash); });
  return all;
}

std::string wanted(const dedup::Demand& demand) {
  return demand.precision ? fmt::format("a precision of {:.1f} %", 100 * *demand.precision)
                          : fmt::format("fewer than {:g} false pairs expected", demand.risk);
}

void refuse(const ChoiceFlags& flags) {
  throw RefusedError(fmt::format(
      "of {}, not even equal codes are duplicates with {}; ask for less, take another "
      "hash, or see winnow tune",
      flags.hash == kAuto ? "the stored hashes" : flags.hash, wanted(demand_of(flags))));
}

}  // namespace

std::vector<CLI::Option*> add_demand_flags(CLI::App& app, const std::string& prefix,
                                           ChoiceFlags& flags) {
  CLI::Option* risk = app.add_option(
      prefix + "risk", flags.risk,
      "Choose the threshold: the largest with fewer expected false pairs than this among all "
      "images; 0.5 by default");
  CLI::Option* precision =
      app.add_option(prefix + "precision", flags.precision,
                     "Choose the threshold: the largest whose expected precision is at least this "
                     "(see winnow tune)")
          ->check(CLI::Range(0.0, 1.0))
          ->excludes(risk);
  return {risk, precision};
}

std::vector<CLI::Option*> add_choice_flags(CLI::App& app, const std::string& prefix,
                                           ChoiceFlags& flags) {
  CLI::Option* hash = app.add_option(prefix + "hash", flags.hash,
                                     "Hash to compare; auto: of those stored the one that finds "
                                     "most; exact: equal files and pixels only")
                          ->capture_default_str();
  CLI::Option* threshold = app.add_option(
      prefix + "threshold", flags.threshold,
      "Bits that may differ between duplicates (of phash, where no hash is named); by default as "
      "many as have fewer than 0.5 expected false pairs among these images");
  std::vector<CLI::Option*> options{hash, threshold};
  for (CLI::Option* option : add_demand_flags(app, prefix, flags)) {
    option->excludes(threshold);
    options.push_back(option);
  }
  options.push_back(add_quality_flag(app, prefix, flags));
  return options;
}

CLI::Option* add_quality_flag(CLI::App& app, const std::string& prefix, ChoiceFlags& flags) {
  return app
      .add_option(prefix + "least-quality", flags.least_quality,
                  "Images of less quality, 0 to 100, have too little in them to be compared by "
                  "codes; by default 50 for pdq, as its authors advise, and anything above 0 for "
                  "others")
      ->check(CLI::Range(0.0, 100.0));
}

void check_choice(const ChoiceFlags& flags, const std::string& prefix) {
  if (flags.precision && !(*flags.precision >= 0)) {
    throw UsageError(prefix + "precision is a number from 0 to 1");
  }
  if (flags.risk && !(*flags.risk > 0 && std::isfinite(*flags.risk))) {
    throw UsageError(prefix + "risk is a number of pairs above 0, as 0.5");
  }
  if (flags.hash == dedup::kExact && flags.least_quality) {
    throw UsageError(prefix +
                     "least-quality is of images compared by codes, and exact compares "
                     "none; leave one out");
  }
  if (flags.hash == dedup::kExact && (flags.risk || flags.precision)) {
    throw UsageError(prefix + "risk and " + prefix +
                     "precision choose a threshold for codes, and exact compares none; leave one "
                     "out");
  }
}

dedup::Demand demand_of(const ChoiceFlags& flags) noexcept {
  dedup::Demand demand;
  demand.risk = flags.risk.value_or(demand.risk);
  demand.precision = flags.precision;
  demand.least_quality = flags.least_quality;
  return demand;
}

bool chooses(const ChoiceFlags& flags) noexcept {
  return flags.hash != dedup::kExact && !flags.threshold;
}

std::vector<std::string> hashes_for(const ChoiceFlags& flags) {
  if (flags.hash == dedup::kExact) return {};
  if (flags.hash != kAuto) return {flags.hash};
  return flags.threshold ? std::vector<std::string>{"phash"} : std::vector<std::string>{};
}

Settled settle_choice(const Session& session, const ChoiceFlags& flags,
                      const dedup::ColumnSource& columns, std::span<const std::string> stored,
                      const dedup::LinkSource& links) {
  const bool is_auto = flags.hash == kAuto;
  if (!chooses(flags)) {
    return {is_auto ? "phash" : flags.hash, flags.threshold.value_or(0), {}, links};
  }
  const dedup::Demand demand = demand_of(flags);
  const std::string by = demand.precision ? fmt::format("precision {:g}", *demand.precision)
                                          : fmt::format("risk {:g}", demand.risk);
  const std::uint64_t images = columns({}).size();
  const auto hashes = is_auto ? candidates(stored, images) : std::vector{flags.hash};
  if (images == 0) {  // nothing to choose by, or to say
    return {hashes.front(), dedup::usual_threshold(hashes.front()), by, links};
  }
  if (is_auto && hashes.size() < stored.size()) {
    say(session, fmt::format("{} images are many for codes of more than 64 bits, so these are not "
                             "compared unless --hash names them",
                             grouped(images)));
  }
  auto chosen = dedup::measure_and_choose(columns, hashes, demand, links);
  if (!chosen) {
    if (!is_auto || demand.precision) refuse(flags);
    say(session, fmt::format("no stored hash has {} among {} images, so only equal files and "
                             "pixels are taken for duplicates",
                             wanted(demand), grouped(images)));
    return {std::string(dedup::kExact), 0, by, links};
  }
  say(session, in_words(chosen->choice, demand));
  if (chosen->choice.alike) say(session, in_words(*chosen->choice.alike));
  return {chosen->choice.hash, chosen->choice.threshold, by, std::move(chosen->links)};
}

std::string in_words(const HashAndThreshold& choice, const dedup::Demand& demand) {
  std::string words =
      fmt::format("{} within {} bits of {}: ", choice.hash, choice.threshold, choice.bits);
  switch (choice.reason) {
    case ThresholdReason::kFewImages:
      words += fmt::format("usual for it, as {} images are too few to measure by",
                           grouped(choice.images));
      break;
    case ThresholdReason::kNoPairs:
      words += fmt::format("usual for it, as no two of {} images are near enough to judge by",
                           grouped(choice.images));
      break;
    case ThresholdReason::kRisk:
      words += fmt::format("{} among {} images", wanted(demand), grouped(choice.images));
      break;
    case ThresholdReason::kPrecision:
    case ThresholdReason::kSearchLimit:
      words += fmt::format("about {:.0f} of {} pairs are false", choice.false_pairs,
                           grouped(choice.pairs));
      break;
  }
  if (choice.reason == ThresholdReason::kSearchLimit) {
    words += fmt::format("; more than {} bits were not looked at", choice.threshold);
  }
  const std::string finds = dedup::finds_in_words(choice.hash, choice.threshold);
  return finds.empty() ? words : words + "; of edited photos it " + finds;
}

std::string in_words(const dedup::Alike& alike) {
  const std::string what =
      alike.by_class
          ? fmt::format(
                "of {} pairs within {} bits, which chance alone would allow, about {} are "
                "false by their labels",
                grouped(alike.pairs), alike.allowed,
                grouped(static_cast<std::uint64_t>(std::llround(alike.expected))))
          : fmt::format(
                "chance alone would allow {} bits, but {} pairs are between that and {}, "
                "where chance makes {:.0f}",
                alike.allowed, grouped(alike.pairs), alike.beyond, alike.expected);
  return fmt::format(
      "warning: these pictures are more alike than strangers are ({}), so codes alone are unsafe "
      "beyond this threshold: look at pairs with winnow review, or take --hash exact",
      what);
}

}  // namespace winnow::tools
