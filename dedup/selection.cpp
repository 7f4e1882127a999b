#include "dedup/selection.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "common/error.h"
#include "dedup/column_file.h"

namespace winnow::dedup {
namespace {

constexpr FileKind kKind{"WNWSELCT", 1, "selection"};

template <class T>
std::span<const T> view(const std::vector<T>& values) noexcept {
  return values;
}

std::span<const char> view(const std::string& text) noexcept { return text; }

// Whether every group's number is one more than the largest before it, where it first appears.
bool numbered_in_order(const std::vector<std::uint32_t>& groups) noexcept {
  std::uint64_t next = 0;
  for (const std::uint32_t group : groups) {
    if (group > next) return false;
    if (group == next) ++next;
  }
  return true;
}

}  // namespace

std::string_view rule_name(Rule rule) noexcept {
  switch (rule) {
    case Rule::kKept:
      return "kept";
    case Rule::kDuplicate:
      return "duplicate";
    case Rule::kLeak:
      return "leak";
  }
  return "unknown";
}

void check_selection(const Selection& selection, const std::string& where) {
  const auto require = [&](bool good, const char* why) {
    if (!good) {
      throw FormatError(where + " is not a selection: " + why + "; decide again with winnow dedup");
    }
  };
  const std::size_t rows = selection.size();
  require(selection.mode <= SelectionMode::kOnePerGroup, "its mode does not exist");
  require(selection.weights.size() == rows && selection.groups.size() == rows &&
              selection.kept.size() == rows && selection.distances.size() == rows &&
              selection.rules.size() == rows,
          "its columns differ in length");
  require(std::ranges::adjacent_find(selection.ids, std::greater_equal<>()) == selection.ids.end(),
          "its ids do not ascend");
  require(std::ranges::all_of(selection.weights,
                              [](float w) { return std::isfinite(w) && !std::signbit(w); }),
          "a weight is negative or no number");
  require(numbered_in_order(selection.groups), "its groups are not numbered in order");
  require(std::ranges::all_of(
              selection.kept,
              [&](SampleId id) { return std::ranges::binary_search(selection.ids, id); }),
          "it keeps a sample that it does not list");
  require(std::ranges::all_of(selection.rules, [](Rule rule) { return rule <= Rule::kLeak; }),
          "a rule does not exist");
}

Bytes serialize(const Selection& selection) {
  check_selection(selection, "the selection to be written");
  ColumnFileWriter out;
  out.add("name", view(selection.name));
  out.add("mode", std::span(&selection.mode, 1));
  out.add("settings", view(selection.settings));
  out.add("cache_digest", view(selection.cache_digest));
  out.add("ids", view(selection.ids));
  out.add("weights", view(selection.weights));
  out.add("groups", view(selection.groups));
  out.add("kept", view(selection.kept));
  out.add("distances", view(selection.distances));
  out.add("rules", view(selection.rules));
  return out.finish(kKind, selection.size());
}

Selection parse_selection(BytesView bytes, const std::string& where) {
  ColumnFileReader in(bytes, kKind, where);
  const std::uint64_t rows = in.rows();
  Selection selection;
  selection.name = in.take_text("name");
  selection.mode = in.take<SelectionMode>("mode", 1).front();
  selection.settings = in.take_text("settings");
  selection.cache_digest = in.take_text("cache_digest");
  selection.ids = in.take<SampleId>("ids", rows);
  selection.weights = in.take<float>("weights", rows);
  selection.groups = in.take<std::uint32_t>("groups", rows);
  selection.kept = in.take<SampleId>("kept", rows);
  selection.distances = in.take<std::uint16_t>("distances", rows);
  selection.rules = in.take<Rule>("rules", rows);
  in.finish();
  check_selection(selection, where);
  return selection;
}

}  // namespace winnow::dedup
