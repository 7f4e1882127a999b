#include "dedup/table/selection.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>

#include "common/error.h"
#include "common/named.h"
#include "dedup/table/column_file.h"

namespace winnow::dedup {
namespace {

constexpr std::uint32_t kWithSplits = 2;
constexpr std::uint32_t kWithIssues = 3;  // with splits or without
constexpr std::uint32_t kWithReview = 4;  // likewise
constexpr FileKind kSelectionFile{"WNWSELCT", kWithReview, "selection"};

FileKind kind_of(const Selection& selection) noexcept {
  const auto has = [&](Rule rule) {
    return std::ranges::find(selection.rules, rule) != selection.rules.end();
  };
  FileKind kind = kSelectionFile;
  if (has(Rule::kReview)) return kind;
  kind.version = has(Rule::kIssue) ? kWithIssues : selection.splits.empty() ? 1 : kWithSplits;
  return kind;
}

constexpr std::array<Named<SelectionMode>, 3> kModes{
    {{"keep", SelectionMode::kKeep},
     {"weight", SelectionMode::kWeight},
     {"one_per_group", SelectionMode::kOnePerGroup}}};
constexpr std::array<Named<Rule>, kRuleCount> kRules{{{"kept", Rule::kKept},
                                                      {"duplicate", Rule::kDuplicate},
                                                      {"leak", Rule::kLeak},
                                                      {"conflict", Rule::kConflict},
                                                      {"moved", Rule::kMoved},
                                                      {"issue", Rule::kIssue},
                                                      {"review", Rule::kReview}}};

std::vector<ColumnView> columns_of(const Selection& selection) {
  std::vector<ColumnView> columns{column("name", view(selection.name)),
                                  column("mode", std::span(&selection.mode, 1)),
                                  column("settings", view(selection.settings)),
                                  column("cache_digest", view(selection.cache_digest)),
                                  column("ids", view(selection.ids)),
                                  column("weights", view(selection.weights)),
                                  column("groups", view(selection.components)),
                                  column("kept", view(selection.kept)),
                                  column("distances", view(selection.distances)),
                                  column("rules", view(selection.rules))};
  if (!selection.splits.empty()) columns.push_back(column("splits", view(selection.splits)));
  return columns;
}

Selection selection_of(ColumnFileReader in, const std::string& where) {
  const std::uint64_t rows = in.rows();
  Selection selection;
  selection.name = in.take_text("name");
  selection.mode = in.take<SelectionMode>("mode", 1).front();
  selection.settings = in.take_text("settings");
  selection.cache_digest = in.take_text("cache_digest");
  selection.ids = in.take<SampleId>("ids", rows);
  selection.weights = in.take<float>("weights", rows);
  selection.components = in.take<std::uint32_t>("groups", rows);
  selection.kept = in.take<SampleId>("kept", rows);
  selection.distances = in.take<std::uint16_t>("distances", rows);
  selection.rules = in.take<Rule>("rules", rows);
  if (in.version() == kWithSplits || in.next_name() == "splits") {
    selection.splits = in.take<Split>("splits", rows);
  }
  in.finish();
  if (kind_of(selection).version != in.version()) in.fail("its version is not that of its columns");
  check_selection(selection, where);
  return selection;
}

// Whether each component's number is, at first appearance, one more than the largest before it.
bool numbered_in_order(const std::vector<std::uint32_t>& components) noexcept {
  std::uint64_t next = 0;
  for (const std::uint32_t component : components) {
    if (component > next) return false;
    if (component == next) ++next;
  }
  return true;
}

}  // namespace

SelectionMode parse_selection_mode(std::string_view name) {
  return parse_named(kModes, "mode", name);
}

std::string_view selection_mode_name(SelectionMode mode) noexcept { return name_in(kModes, mode); }

std::string_view rule_name(Rule rule) noexcept { return name_in(kRules, rule); }

std::size_t Selection::row_of(SampleId id) const noexcept {
  return static_cast<std::size_t>(std::ranges::lower_bound(ids, id) - ids.begin());
}

Hash128 content_hash(const Selection& selection) {
  Xxh3Stream hash;
  for (const ColumnView& column : columns_of(selection)) {
    if (column.shape.name == "name") continue;
    hash.update(as_bytes(column.shape.name));
    hash.update(std::as_bytes(std::span(&column.shape.count, 1)));
    hash.update(column.data);
  }
  return hash.digest();
}

Selection keep_all(std::span<const SampleId> ids) {
  Selection selection;
  selection.ids.assign(ids.begin(), ids.end());
  selection.weights.assign(ids.size(), 1);
  selection.components.resize(ids.size());
  std::iota(selection.components.begin(), selection.components.end(), 0U);
  selection.kept = selection.ids;
  selection.distances.resize(ids.size());
  selection.rules.assign(ids.size(), Rule::kKept);
  return selection;
}

void check_selection(const Selection& selection, const std::string& where) {
  const auto require = [&](bool good, const char* why) {
    if (!good) {
      throw FormatError(where + " is not a selection: " + why +
                        "; make it again with winnow dedup");
    }
  };
  const std::size_t rows = selection.size();
  require(selection.mode <= SelectionMode::kOnePerGroup, "its mode does not exist");
  require(selection.weights.size() == rows && selection.components.size() == rows &&
              selection.kept.size() == rows && selection.distances.size() == rows &&
              selection.rules.size() == rows &&
              (selection.splits.empty() || selection.splits.size() == rows),
          "its columns differ in length");
  require(std::ranges::adjacent_find(selection.ids, std::greater_equal<>()) == selection.ids.end(),
          "its ids do not ascend");
  require(std::ranges::all_of(selection.weights,
                              [](float w) { return std::isfinite(w) && !std::signbit(w); }),
          "a weight is negative or no number");
  require(numbered_in_order(selection.components), "its groups are not numbered in order");
  for (std::size_t row = 0; row < rows; ++row) {
    const SampleId kept = selection.kept[row];
    require(kept == selection.ids[row] || std::ranges::binary_search(selection.ids, kept),
            "it keeps a sample that it does not list");
  }
  require(std::ranges::all_of(selection.rules,
                              [](Rule rule) { return static_cast<int>(rule) < kRuleCount; }),
          "a rule does not exist");
  require(std::ranges::all_of(selection.splits,
                              [](Split split) { return static_cast<int>(split) < kSplitCount; }),
          "a split does not exist");
}

Bytes serialize(const Selection& selection) {
  check_selection(selection, "the selection to be written");
  return column_file(kind_of(selection), selection.size(), columns_of(selection));
}

void write_selection(const std::filesystem::path& path, const Selection& selection) {
  check_selection(selection, "the selection to be written");
  const std::vector<ColumnView> columns = columns_of(selection);
  std::vector<ColumnShape> shapes;
  for (const ColumnView& column : columns) shapes.push_back(column.shape);
  ColumnFileWriter out(path, kind_of(selection), selection.size(), std::move(shapes));
  for (std::size_t i = 0; i < columns.size(); ++i) out.append(i, columns[i].data);
  out.finish();
}

Selection parse_selection(BytesView bytes, const std::string& where) {
  return selection_of(ColumnFileReader(bytes, kSelectionFile, where), where);
}

Selection read_selection(const InputFile& file) {
  return selection_of(ColumnFileReader(file, kSelectionFile, ColumnFileReader::Content::kUnknown),
                      file.path().string());
}

}  // namespace winnow::dedup
