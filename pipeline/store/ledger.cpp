#include "pipeline/store/ledger.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/error.h"
#include "pipeline/store/json_internal.h"

namespace winnow::pipeline {
namespace {

constexpr std::array<std::string_view, kFateCount> kFates{
    "ok", "truncated", "corrupt", "unsupported", "too_large", "empty", "missing", "unreadable"};

Fate parse_fate(const std::string& name, const std::string& where) {
  const auto* at = std::find(kFates.begin(), kFates.end(), name);
  if (at == kFates.end()) throw FormatError(where + " has an unknown class '" + name + "'");
  return static_cast<Fate>(at - kFates.begin());
}

Split parse_exact_split(const std::string& name, const std::string& where) {
  for (int i = 0; i < kSplitCount; ++i) {
    if (split_name(static_cast<Split>(i)) == name) return static_cast<Split>(i);
  }
  throw FormatError(where + " has an unknown split '" + name + "'");
}

}  // namespace

std::string_view fate_name(Fate fate) noexcept { return kFates[static_cast<std::size_t>(fate)]; }

std::string to_json_lines(const std::vector<LedgerRow>& rows) {
  std::string text;
  for (const LedgerRow& row : rows) {
    nlohmann::ordered_json line;
    line["id"] = row.id;
    line["name"] = to_utf8(row.name);
    line["split"] = split_name(row.split);
    line["class"] = fate_name(row.fate);
    if (!row.reason.empty()) line["reason"] = to_utf8(row.reason);
    text += line.dump();
    text += '\n';
  }
  return text;
}

std::vector<LedgerRow> parse_ledger(const std::string& text, const std::string& where) {
  std::vector<LedgerRow> rows;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::string at = where + ", line " + std::to_string(rows.size() + 1);
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) throw FormatError(at + " ends too soon: it is cut short");
    const JsonObject line(parse_json(std::string_view(text).substr(begin, end - begin), at), at);
    LedgerRow row;
    row.id = line.number("id");
    row.name = from_utf8(line.text("name"));
    row.split = parse_exact_split(line.text("split"), at);
    row.fate = parse_fate(line.text("class"), at);
    if (line.has("reason")) row.reason = from_utf8(line.text("reason"));
    if (!rows.empty() && row.id <= rows.back().id) {
      throw FormatError(at + " is damaged: its ids do not ascend");
    }
    rows.push_back(std::move(row));
    begin = end + 1;
  }
  return rows;
}

std::map<std::string, std::uint64_t> count_fates(const std::vector<LedgerRow>& rows) {
  std::map<std::string, std::uint64_t> counts;
  for (const std::string_view name : kFates) counts[std::string(name)] = 0;
  for (const LedgerRow& row : rows) ++counts[std::string(fate_name(row.fate))];
  return counts;
}

}  // namespace winnow::pipeline
