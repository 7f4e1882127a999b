#include "dedup/report.h"

#include <nlohmann/json.hpp>

#include "common/csv.h"

namespace winnow::dedup {
namespace {

constexpr std::string_view kCsvHeader =
    "id,name,split,labels,group,kept_id,kept_name,distance,rule\n";

std::string labels_text(std::span<const std::int32_t> labels) {
  std::string text;
  for (const std::int32_t label : labels) {
    text += (text.empty() ? "" : " ") + std::to_string(label);
  }
  return text;
}

std::string line_of(const Selection& selection, const Fingerprints& table, std::size_t row,
                    const NameOf& name_of) {
  std::string csv = std::to_string(selection.ids[row]) + ',';
  csv += csv_field(name_of(selection.ids[row])) + ',';
  csv += split_name(table.splits[row]);
  csv += ',' + labels_text(table.labels[row]) + ',' + std::to_string(selection.groups[row]) + ',' +
         std::to_string(selection.kept[row]) + ',' + csv_field(name_of(selection.kept[row])) + ',' +
         std::to_string(selection.distances[row]) + ',';
  csv += rule_name(selection.rules[row]);
  csv += '\n';
  return csv;
}

}  // namespace

void csv_of_removed(const Result& result, const Fingerprints& table, const NameOf& name_of,
                    const TextSink& out) {
  out(kCsvHeader);
  for (std::size_t row = 0; row < result.selection.size(); ++row) {
    if (result.selection.rules[row] == Rule::kKept) continue;
    out(line_of(result.selection, table, row, name_of));
  }
}

void csv_of_groups(const Result& result, const Fingerprints& table, const NameOf& name_of,
                   const TextSink& out) {
  out(kCsvHeader);
  for (const Group& group : result.groups) {
    for (const std::uint32_t row : group.rows) {
      out(line_of(result.selection, table, row, name_of));
    }
  }
}

std::string json_summary(const Result& result, const Options& options) {
  nlohmann::ordered_json leaks = nlohmann::ordered_json::array();
  for (const LeakCount& leak : result.leaks) {
    leaks.push_back({{"a", split_name(leak.a)},
                     {"b", split_name(leak.b)},
                     {"groups", leak.groups},
                     {"samples", leak.samples_in_b}});
  }
  const nlohmann::ordered_json summary{{"schema", "winnow.dedup/1"},
                                       {"hash", options.hash},
                                       {"threshold", effective_threshold(options)},
                                       {"groups", result.groups.size()},
                                       {"removed", result.removed},
                                       {"kept", result.kept},
                                       {"leaks", leaks},
                                       {"conflicts", result.conflicts}};
  return summary.dump();
}

}  // namespace winnow::dedup
