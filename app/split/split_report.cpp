#include "app/split/split_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "app/printable.h"
#include "app/split/split_page.h"
#include "app/words.h"
#include "common/json.h"
#include "common/utf8.h"
#include "dedup/review/decided.h"

namespace winnow::app {
namespace {

using dedup::ClassOff;
using dedup::OffReason;

std::string_view reason_name(OffReason reason) {
  switch (reason) {
    case OffReason::kFixed:
      return "fixed";
    case OffReason::kBlock:
      return "block";
    case OffReason::kLabels:
      return "labels";
  }
  return "unknown";
}

void print_off(const Session& session, const std::vector<OffClass>& all,
               const pipeline::Manifest& manifest) {
  constexpr std::size_t kMost = 10;
  const std::size_t shown = std::min(kMost, all.size());
  for (const auto& [where, off] : std::span(all).first(shown)) {
    const std::string name = class_of(off, manifest).value_or("without labels");
    print(session, fmt::format("{}: {} of {} samples in {}, where its share is {:.1f}; {}\n",
                               printable(name), grouped(off.got), grouped(off.samples), where,
                               off.wanted, reason_in_words(off)));
  }
  if (all.size() > shown) {
    print(session, fmt::format("and {} off by more than one sample\n",
                               count_of(all.size() - shown, "more class is", "more classes are")));
  }
}

// The fields that splits and folds share.
template <class Summary>
Json json_of_blocks(const char* schema, const Summary& summary,
                    const dedup::SplitOptions& options) {
  Json json{{"schema", schema},
            {"hash", options.hash},
            {"threshold",
             dedup::effective_threshold({.hash = options.hash, .threshold = options.threshold})},
            {"seed", options.dealing.seed},
            {"of", Json::array()},
            {"blocks", summary.blocks},
            {"largest_block", summary.largest_block}};
  for (const Split split : {Split::kNone, Split::kTrain, Split::kVal, Split::kTest}) {
    if (options.of[static_cast<std::size_t>(split)]) json["of"].push_back(split_name(split));
  }
  if (options.matching.least_quality) json["least_quality"] = *options.matching.least_quality;
  if (options.matching.verified) json["verified"] = *options.matching.verified;
  if (!options.matching.features.empty()) json["features"] = options.matching.features;
  return json;
}

// `where`: the split, or the number of the fold.
Json json_of_off(const ClassOff& off, const char* kind, const Json& where,
                 const pipeline::Manifest& manifest) {
  const auto name = class_of(off, manifest);
  return {{"class", name ? Json(to_utf8(*name)) : Json(nullptr)},
          {"samples", off.samples},
          {kind, where},
          {"wanted", off.wanted},
          {"got", off.got},
          {"largest_block", off.largest_block},
          {"reason", reason_name(off.reason)}};
}

void add_review(const dedup::SplitOptions& options, Json& json) {
  if (!options.decided) return;
  json["review"] = {{"judgements", options.decided->judgements},
                    {"unknown_images", options.decided->unknown},
                    {"equal_images", options.decided->equal},
                    {"dropped", options.decided->dropped.size()}};
}

// Facts that the tables do not show.
template <class Summary>
void tell_of_both(const Session& session, const Summary& summary) {
  say(session, fmt::format("{} together, the largest with {}",
                           count_of(summary.blocks, "block stays", "blocks stay"),
                           count_of(summary.largest_block, "sample")));
  if (summary.left_out > 0) {
    say(session, fmt::format("{} left out because of duplicates in a split that stays as it is",
                             count_of(summary.left_out, "sample is", "samples are")));
  }
}

}  // namespace

std::string fold_name(const std::string& name, std::uint32_t fold) {
  return name + "-" + std::to_string(fold);
}

void print_splits(const Session& session, const dedup::SplitSummary& summary,
                  const pipeline::Manifest& manifest) {
  print(session, fmt::format("{:6}{:>14}{:>14}{:>10}\n", "split", "samples", "blocks", "classes"));
  for (const Split split : {Split::kTrain, Split::kVal, Split::kTest, Split::kNone}) {
    const auto& part = summary.parts[static_cast<std::size_t>(split)];
    if (split == Split::kNone && part.samples == 0) continue;
    print(session, fmt::format("{:6}{:>14}{:>14}{:>10}\n", split_name(split), grouped(part.samples),
                               grouped(part.blocks), grouped(part.classes)));
  }
  print(session, fmt::format("the class that is furthest from its share is off by {:.1f} samples\n",
                             summary.furthest));
  print_off(session, off_of(summary), manifest);
}

void print_folds(const Session& session, const dedup::FoldsSummary& summary,
                 const std::string& name, const pipeline::Manifest& manifest) {
  const std::size_t width =
      fold_name(name, static_cast<std::uint32_t>(summary.folds.size())).size();
  print(session, fmt::format("{:{}}{:>14}{:>14}{:>14}{:>10}{:>20}{:>8}\n", "", width, "train",
                             "val", "blocks", "classes", "of each", "off by"));
  for (std::uint32_t fold = 0; fold < summary.folds.size(); ++fold) {
    const dedup::FoldsSummary::Fold& here = summary.folds[fold];
    print(session,
          fmt::format("{:{}}{:>14}{:>14}{:>14}{:>10}{:>20}{:>8.1f}\n", fold_name(name, fold + 1),
                      width, grouped(summary.dealt - here.samples), grouped(here.samples),
                      grouped(here.blocks), grouped(here.classes),
                      fmt::format("{} to {}", grouped(here.fewest), grouped(here.most)),
                      here.furthest));
  }
  const std::uint64_t test = summary.fixed[static_cast<std::size_t>(Split::kTest)];
  if (test > 0)
    print(session, fmt::format("the test split is the same in all selections: {}\n",
                               count_of(test, "sample")));
  print_off(session, off_of(summary), manifest);
}

void tell(const Session& session, const dedup::SplitSummary& summary) {
  tell_of_both(session, summary);
  if (summary.moved > 0) {
    say(session, fmt::format("{} moved to another split",
                             count_of(summary.moved, "sample is", "samples are")));
  }
  if (summary.leaks > 0) {
    say(session,
        fmt::format(
            "{} left out, because two splits that otherwise stay as they are share duplicates",
            count_of(summary.leaks, "sample is", "samples are")));
  }
}

void tell(const Session& session, const dedup::FoldsSummary& summary) {
  tell_of_both(session, summary);
}

Json json_of_splits(const dedup::SplitSummary& summary, const dedup::SplitOptions& options,
                    const pipeline::Manifest& manifest) {
  Json json = json_of_blocks("winnow.split/1", summary, options);
  json["moved"] = summary.moved;
  json["left_out"] = summary.left_out;
  json["leaks"] = summary.leaks;
  json["splits"] = Json::array();
  for (const Split split : {Split::kNone, Split::kTrain, Split::kVal, Split::kTest}) {
    const auto& part = summary.parts[static_cast<std::size_t>(split)];
    json["splits"].push_back({{"split", split_name(split)},
                              {"share", options.shares[static_cast<std::size_t>(split)]},
                              {"samples", part.samples},
                              {"dealt", part.dealt},
                              {"blocks", part.blocks},
                              {"classes", part.classes}});
  }
  json["furthest"] = summary.furthest;
  json["off"] = Json::array();
  for (const ClassOff& off : summary.off) {
    json["off"].push_back(json_of_off(off, "split", split_name(off.split), manifest));
  }
  add_review(options, json);
  return json;
}

Json json_of_folds(const dedup::FoldsSummary& summary, const std::string& name,
                   const dedup::SplitOptions& options, const pipeline::Manifest& manifest) {
  Json json = json_of_blocks("winnow.folds/1", summary, options);
  json["left_out"] = summary.left_out;
  json["dealt"] = summary.dealt;
  json["test"] = summary.fixed[static_cast<std::size_t>(Split::kTest)];
  json["none"] = summary.fixed[static_cast<std::size_t>(Split::kNone)];
  json["folds"] = Json::array();
  for (std::uint32_t fold = 0; fold < summary.folds.size(); ++fold) {
    const dedup::FoldsSummary::Fold& here = summary.folds[fold];
    json["folds"].push_back({{"selection", fold_name(name, fold + 1)},
                             {"train", summary.dealt - here.samples},
                             {"val", here.samples},
                             {"blocks", here.blocks},
                             {"classes", here.classes},
                             {"fewest", here.fewest},
                             {"most", here.most},
                             {"furthest", here.furthest}});
  }
  json["off"] = Json::array();
  for (const auto& [fold, off] : summary.off) {
    json["off"].push_back(json_of_off(off, "fold", fold + 1, manifest));
  }
  add_review(options, json);
  return json;
}

}  // namespace winnow::app
