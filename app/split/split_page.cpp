#include "app/split/split_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "app/page/html.h"
#include "app/page/page.h"
#include "app/words.h"

namespace winnow::app {
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

std::string folds_table(const dedup::FoldsSummary& summary) {
  std::uint64_t most = 0;
  for (const auto& fold : summary.folds) most = std::max(most, fold.samples);
  std::string rows;
  for (std::size_t i = 0; i < summary.folds.size(); ++i) {
    const auto& fold = summary.folds[i];
    rows +=
        row(key_cell(fmt::format("fold {}", i + 1)) + number_cell(grouped(fold.samples)) +
            bar_cell({fold.samples}, most) + number_cell(grouped(fold.blocks)) +
            number_cell(grouped(fold.classes)) + number_cell(grouped(fold.fewest)) +
            number_cell(grouped(fold.most)) + number_cell(fmt::format("{:.1f}", fold.furthest)));
  }
  return table(
      {"fold", "#images", "", "#blocks", "#classes", "#fewest of one", "#most of one", "#off by"},
      rows);
}

std::string off_table(const std::vector<OffClass>& all, const pipeline::Manifest& manifest) {
  if (all.empty()) return "";
  std::string rows;
  const std::size_t shown = std::min(kMostOff, all.size());
  for (const auto& [where, off] : std::span(all).first(shown)) {
    const auto name = class_of(off, manifest);
    rows += row(cell(name ? name_html(*name) : "no label") + cell(where) +
                number_cell(grouped(off.samples)) + number_cell(fmt::format("{:.1f}", off.wanted)) +
                number_cell(grouped(off.got)) + cell(escaped(reason_in_words(off))));
  }
  return details(fmt::format("Classes off their share: the {} that are off most", shown),
                 table({"class", "in", "#images", "#share", "#got", "why"}, rows), true);
}

// A sentence of a page. `what`: of which no picture is in two.
template <class Summary>
std::string blocks_in_words(const Summary& summary, const char* what) {
  return fmt::format("No picture is in two {}: {} together, the largest with {}.", what,
                     count_of(summary.blocks, "block stays", "blocks stay"),
                     count_of(summary.largest_block, "image"));
}

// A clause about the images that are left out; empty if there are none.
std::string left_out_in_words(std::uint64_t images) {
  if (images == 0) return "";
  return fmt::format(" {} left out, with duplicates in a split that is fixed.",
                     count_of(images, "image is", "images are"));
}

std::string verdict_of(const dedup::SplitSummary& summary) {
  std::string words = blocks_in_words(summary, "splits");
  if (summary.moved > 0) {
    words += fmt::format(" {} moved to another split.",
                         count_of(summary.moved, "image is", "images are"));
  }
  return words + left_out_in_words(summary.left_out + summary.leaks);
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

std::vector<OffClass> off_of(const dedup::SplitSummary& summary) {
  std::vector<OffClass> all;
  for (const ClassOff& off : summary.off) all.push_back({std::string(split_name(off.split)), off});
  return all;
}

std::vector<OffClass> off_of(const dedup::FoldsSummary& summary) {
  std::vector<OffClass> all;
  for (const auto& [fold, off] : summary.off)
    all.push_back({fmt::format("fold {}", fold + 1), off});
  return all;
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
  return {.verb = "winnow split",
          .applying_verb = "winnow split",
          .about = "splits",
          .verdict = verdict_of(summary),
          .tiles = tiles,
          .sections = section("Splits",
                              words + parts_table(summary) + off_table(off_of(summary), manifest)),
          .listed = ""};
}

GalleryFrame folds_frame(const dedup::FoldsSummary& summary, const pipeline::Manifest& manifest) {
  const std::string words = paragraph(
      "Each fold is val in one selection and train in the others. Blocks of two images or more are "
      "shown below, each image with the split that it had before; &quot;leak&quot; is said of "
      "those that lay in two splits.");
  return {.verb = "winnow split",
          .applying_verb = "winnow split",
          .about = "folds",
          .verdict = blocks_in_words(summary, "folds") + left_out_in_words(summary.left_out),
          .tiles =
              tile(grouped(summary.folds.size()), "folds") +
              tile(grouped(summary.dealt), "images in them") +
              tile(grouped(summary.fixed[static_cast<std::size_t>(Split::kTest)]), "stay in test") +
              tile(grouped(summary.left_out), "left out"),
          .sections =
              section("Folds", words + folds_table(summary) + off_table(off_of(summary), manifest)),
          .listed = ""};
}

}  // namespace winnow::app
