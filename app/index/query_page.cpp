#include "app/index/query_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "app/dedup/gallery.h"
#include "app/index/pictures.h"
#include "app/page/html.h"
#include "app/page/page.h"
#include "app/words.h"
#include "common/error.h"
#include "dedup/leak/leak.h"
#include "dedup/policy/policy.h"
#include "pipeline/ingest/plan.h"

namespace winnow::app {
namespace {

using dedup::Fingerprints;

const dedup::ColumnNames kShown{"labels", "widths_px", "heights_px", "file_hashes"};

// The images of the index that were found, in the order of ids.
Fingerprints found_in(const dedup::StoredIndex& index, std::span<const dedup::Match> matches) {
  const Fingerprints table = index.columns()(kShown);
  std::vector<bool> keep(table.size());
  for (const dedup::Match& match : matches) {
    keep[static_cast<std::size_t>(std::ranges::lower_bound(table.ids, match.id) -
                                  table.ids.begin())] = true;
  }
  return dedup::select_rows(table, keep);
}

// One group per image of the index: it stays, and its matches go. `table`: the first `found` rows
// are of the index, the others those of `matches`.
dedup::Result groups_of_matches(const Fingerprints& table, std::size_t found,
                                std::span<const dedup::Match> matches) {
  dedup::Result result;
  dedup::Selection& selection = result.selection = dedup::keep_all(table.ids);
  result.groups.resize(found);
  for (std::uint32_t i = 0; i < found; ++i) result.groups[i].rows = {i};
  const std::span in_index = std::span(table.ids).first(found);
  for (const dedup::Match& match : matches) {
    const auto row = static_cast<std::uint32_t>(found) + match.row;
    const auto group =
        static_cast<std::uint32_t>(std::ranges::lower_bound(in_index, match.id) - in_index.begin());
    selection.kept[row] = match.id;
    selection.weights[row] = 0;
    selection.components[row] = group;
    selection.distances[row] = static_cast<std::uint16_t>(match.distance);
    selection.rules[row] = dedup::Rule::kDuplicate;
    result.groups[group].rows.push_back(row);
    auto& diameter = result.groups[group].shape.diameter;
    diameter = std::max(diameter, match.distance);
  }
  for (dedup::Group& group : result.groups) {
    group.leak = dedup::is_leak(table.splits, group.rows);
    group.label_conflict = dedup::labels_differ(table.labels, group.rows);
  }
  result.removed = matches.size();
  result.kept = found;
  return result;
}

// A table: number of query images by their split and the split of the index that has them.
std::string splits_table(const Fingerprints& shown, const dedup::Result& result) {
  std::array<std::array<std::uint64_t, kSplitCount>, kSplitCount> counts{};
  for (const dedup::Group& group : result.groups) {
    const auto known = static_cast<std::size_t>(shown.splits[group.rows.front()]);
    for (const std::uint32_t row : std::span(group.rows).subspan(1)) {
      ++counts[static_cast<std::size_t>(shown.splits[row])][known];
    }
  }
  const auto words = [](std::size_t split) {
    const std::string_view name = split_name(static_cast<Split>(split));
    return name == "none" ? std::string("no split") : std::string(name);
  };
  std::string rows;
  for (std::size_t asked = 0; asked < kSplitCount; ++asked) {
    for (std::size_t known = 0; known < kSplitCount; ++known) {
      if (counts[asked][known] == 0) continue;
      rows +=
          row(cell(words(asked)) + cell(words(known)) + number_cell(grouped(counts[asked][known])));
    }
  }
  return table({"asked, of split", "known, of split", "#asked"}, rows);
}

}  // namespace

QueryPage::QueryPage(const dedup::StoredIndex& index, int threshold, std::string how)
    : index_(index),
      threshold_(threshold),
      how_(std::move(how)),
      next_source_(static_cast<std::uint32_t>(index.sources().size())),
      classes_(index.classes()) {}

void QueryPage::add(const std::filesystem::path& input, const pipeline::Cache& cache,
                    std::span<const dedup::Match> matches, pipeline::PictureOf picture_of) {
  const pipeline::Manifest& manifest = cache.manifest();
  if (next_source_ + manifest.sources.size() > std::size_t{1} << (64 - kPositionBits)) {
    throw UsageError("index and query have too many data sets for one page; query fewer at a time");
  }
  const Fingerprints table = cache.open_fingerprints()(kShown);
  const pipeline::LedgerNames names = cache.read_names();
  std::vector<bool> keep(table.size());
  for (const dedup::Match& match : matches) {
    keep[match.row] = true;
    matches_.push_back({static_cast<std::uint32_t>(matches_.size()), match.id, match.distance});
  }
  Fingerprints rows = dedup::select_rows(table, keep);
  const std::vector<std::int32_t> labels = pipeline::map_classes(manifest.classes, classes_);
  for (std::int32_t& label : rows.labels.values) {
    if (!labels.empty()) label = labels.at(static_cast<std::size_t>(label));
  }
  for (SampleId& id : rows.ids) {
    const std::string name = names(id);
    id = make_sample_id(next_source_ + source_of(id), position_of(id));
    names_.emplace(id, name);
  }
  if (asked_.size() == 0) {
    asked_ = std::move(rows);
  } else {
    dedup::append_rows(asked_, rows);
  }
  inputs_.push_back(
      {input.string(), table.size(), matches.size(), next_source_, std::move(picture_of)});
  next_source_ += static_cast<std::uint32_t>(manifest.sources.size());
}

pipeline::PictureOf QueryPage::pictures(const pipeline::PictureOf& of_index) const {
  const bool none = std::ranges::none_of(
      inputs_, [](const Input& input) { return static_cast<bool>(input.picture_of); });
  if (!of_index && none) return {};
  return [this, &of_index](SampleId id, int side_px) -> std::optional<Image> {
    const std::uint32_t source = source_of(id);
    if (source < index_.sources().size()) {
      return of_index ? of_index(id, side_px) : std::nullopt;
    }
    const auto after = std::ranges::upper_bound(inputs_, source, {}, &Input::first_source);
    const Input& input = *(after - 1);
    if (!input.picture_of) return std::nullopt;
    return input.picture_of(make_sample_id(source - input.first_source, position_of(id)), side_px);
  };
}

std::string QueryPage::verdict() const {
  std::uint64_t images = 0;
  for (const Input& input : inputs_) images += input.images;
  return fmt::format("{} of {} {} a duplicate in the index, {}.", grouped(matches_.size()),
                     count_of(images, "image"),
                     matches_.size() == 1 || images == 1 ? "has" : "have", how_);
}

std::string QueryPage::inputs_table() const {
  std::string rows;
  for (const Input& input : inputs_) {
    const double share = input.images == 0
                             ? 0
                             : static_cast<double>(input.known) / static_cast<double>(input.images);
    rows += row(cell(name_html(input.name)) + number_cell(grouped(input.images)) +
                number_cell(grouped(input.known)) + number_cell(percent(share)));
  }
  return table({"asked", "#images", "#known", "#share"}, rows);
}

void QueryPage::write(const Session& session, const pipeline::PictureOf& picture_of,
                      const std::filesystem::path& path) const {
  Fingerprints table = found_in(index_, matches_);
  const std::size_t found = table.size();
  dedup::append_rows(table, asked_);
  const dedup::Result result = groups_of_matches(table, found, matches_);
  const GalleryInput input{.result = result,
                           .table = table,
                           .threshold = threshold_,
                           .classes = classes_,
                           .name_of = [this, in_index = index_.name_of()](SampleId id) {
                             const auto asked = names_.find(id);
                             return asked == names_.end() ? in_index(id) : asked->second;
                           }};
  std::uint64_t equal = 0;
  for (const dedup::Match& match : matches_) equal += match.distance == 0 ? 1 : 0;
  const std::string sections =
      section("What was asked",
              inputs_table() + (matches_.empty() ? std::string() : splits_table(table, result)));
  write_gallery(session, input,
                {.title = name_of_folder(index_.folder()),
                 .made = made_here(),
                 .picture_of = pictures(picture_of),
                 .no_pictures = kNoPicturesInIndex,
                 .frame = {.verb = "winnow index query",
                           .applying_verb = "winnow index dedup",
                           .about = "what is known",
                           .verdict = verdict(),
                           .tiles = tile(grouped(index_.live_rows()), "images in the index") +
                                    tile(grouped(matches_.size()), "asked and known") +
                                    tile(grouped(equal), "of them at distance 0") +
                                    tile(grouped(found), "images of the index found"),
                           .sections = sections,
                           .counts = false,
                           .listed = "All are in the CSV that was printed."},
                 .fates = {{"kept", "in the index"}, {"duplicate", "asked"}}},
                path);
}

}  // namespace winnow::app
