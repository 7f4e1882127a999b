#include "tools/split_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tools/report/html.h"
#include "tools/report/page.h"
#include "tools/report/words.h"

namespace winnow::tools {
namespace {

using dedup::ClassOff;
using dedup::OffReason;

constexpr std::size_t kMostOff = 20;

const dedup::SplitSummary::Part& part_of(const dedup::SplitSummary& summary, Split split) {
  return summary.parts[static_cast<std::size_t>(split)];
}

std::string parts_table(const dedup::SplitSummary& summary) {
  std::uint64_t most = 0;
  for (const auto& part : summary.parts) most = std::max(most, part.samples);
  std::string rows;
  for (const Split split : {Split::kTrain, Split::kVal, Split::kTest, Split::kNone}) {
    const auto& part = part_of(summary, split);
    if (split == Split::kNone && part.samples == 0) continue;
    rows += row(key_cell(split == Split::kNone ? "no split" : split_name(split)) +
                number_cell(grouped(part.samples)) + bar_cell({part.samples}, most) +
                number_cell(grouped(part.blocks)) + number_cell(grouped(part.classes)));
  }
  return table({"split", "#images", "", "#blocks", "#classes"}, rows);
}

std::string off_table(const dedup::SplitSummary& summary, const pipeline::Manifest& manifest) {
  if (summary.off.empty()) return "";
  std::string rows;
  const std::size_t shown = std::min(kMostOff, summary.off.size());
  for (const ClassOff& off : std::span(summary.off).first(shown)) {
    const auto name = class_of(off, manifest);
    rows += row(cell(name ? name_html(*name) : "no label") + cell(split_name(off.split)) +
                number_cell(grouped(off.samples)) + number_cell(fmt::format("{:.1f}", off.wanted)) +
                number_cell(grouped(off.got)) + cell(escaped(reason_in_words(off))));
  }
  return details(fmt::format("Classes off their share: the {} that are off most", shown),
                 table({"class", "in", "#images", "#share", "#got", "why"}, rows), true);
}

std::string verdict_of(const dedup::SplitSummary& summary) {
  std::string words = fmt::format(
      "No picture lies in two splits: {} blocks stay together, the "
      "largest of {} images.",
      grouped(summary.blocks), grouped(summary.largest_block));
  if (summary.moved > 0) {
    words +=
        fmt::format(" {} images are used in another split than before.", grouped(summary.moved));
  }
  if (summary.left_out + summary.leaks > 0) {
    words += fmt::format(" {} are left out: they belong to images of a split that is fixed.",
                         grouped(summary.left_out + summary.leaks));
  }
  return words;
}

}  // namespace

std::optional<std::string> class_of(const ClassOff& off, const pipeline::Manifest& manifest) {
  if (!off.label) return std::nullopt;
  const auto label = static_cast<std::size_t>(*off.label);
  return label < manifest.classes.size() ? manifest.classes[label] : std::to_string(label);
}

std::string reason_in_words(const ClassOff& off) {
  switch (off.reason) {
    case OffReason::kFixed:
      return "some must follow fixed samples";
    case OffReason::kBlock:
      return fmt::format("up to {} stay together", grouped(off.largest_block));
    case OffReason::kLabels:
      return "they carry other labels too";
  }
  return "";
}

GalleryFrame split_frame(const dedup::SplitSummary& summary, const pipeline::Manifest& manifest) {
  std::string tiles;
  for (const Split split : {Split::kTrain, Split::kVal, Split::kTest}) {
    tiles += tile(grouped(part_of(summary, split).samples), split_name(split));
  }
  tiles += tile(grouped(summary.moved), "moved to another split") +
           tile(grouped(summary.left_out + summary.leaks), "left out");
  const std::string words = paragraph(
      fmt::format("The class furthest from its share is off by {:.1f} images. Blocks of two images "
                  "or more are shown below; &quot;leak&quot; is said of those that lay in two "
                  "splits before.",
                  summary.furthest));
  return {
      .verb = "winnow split",
      .obeying = "winnow split",
      .about = "splits",
      .verdict = verdict_of(summary),
      .tiles = tiles,
      .sections = section("Splits", words + parts_table(summary) + off_table(summary, manifest)),
      .listed = ""};
}

}  // namespace winnow::tools
