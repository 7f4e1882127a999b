#include "pipeline/store/ledger.h"

#include <algorithm>
#include <utility>

#include "common/error.h"
#include "common/json.h"
#include "common/json_reader.h"
#include "common/utf8.h"

namespace winnow::pipeline {
namespace {

constexpr std::uint64_t kBlockLines = 16;

constexpr std::array<std::string_view, kFateCount> kFates{"ok",          "truncated",  "corrupt",
                                                          "unsupported", "too_large",  "empty",
                                                          "missing",     "unreadable", "duplicate"};

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

// Parses ledger lines one after the other.
class Parser {
 public:
  explicit Parser(std::string where) : where_(std::move(where)) {}

  LedgerRow parse(std::string_view text) {
    const std::string at = where_ + ", line " + std::to_string(++line_);
    const JsonReader line(text, {at});
    LedgerRow row;
    row.id = line.at("id").number();
    row.name = from_utf8(line.at("name").text());
    row.split = parse_exact_split(line.at("split").text(), at);
    row.fate = parse_fate(line.at("class").text(), at);
    if (const auto bytes = line.find("bytes")) row.bytes = bytes->number();
    if (const auto reason = line.find("reason")) row.reason = from_utf8(reason->text());
    if (line_ > 1 && row.id <= last_id_) {
      throw FormatError(at + " is damaged: its ids do not ascend");
    }
    last_id_ = row.id;
    return row;
  }
  [[noreturn]] void cut_short() const {
    throw FormatError(where_ + ", line " + std::to_string(line_ + 1) +
                      " ends too soon: it is cut short");
  }

 private:
  const std::string where_;
  std::uint64_t line_ = 0;
  SampleId last_id_ = 0;
};

// Calls `take` with each line and its offset.
template <class Take>
void for_each_line(const InputFile& file, const Parser& parser, const Take& take) {
  std::string rest;  // beginning of a line that continues in the next piece
  std::uint64_t begin = 0;
  for_each_piece(file, 0, file.size(), [&](BytesView piece) {
    std::string_view text = as_text(piece);
    for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
      std::string_view line = text.substr(0, end);
      if (!rest.empty()) line = rest.append(line);
      take(begin, line);
      begin += line.size() + 1;
      rest.clear();
      text.remove_prefix(end + 1);
    }
    rest += text;
  });
  if (!rest.empty()) parser.cut_short();
}

}  // namespace

std::string_view fate_name(Fate fate) noexcept { return kFates[static_cast<std::size_t>(fate)]; }

LedgerRow left_out(LedgerRow row, const dedup::Selection& selection, std::size_t decision,
                   const std::string& kept_name) {
  const std::string before = std::move(row.reason);
  row.fate = Fate::kDuplicate;
  const dedup::Rule rule = selection.rules[decision];
  if (rule == dedup::Rule::kIssue || rule == dedup::Rule::kReview) {
    row.reason = rule == dedup::Rule::kIssue ? "left out for an issue of its picture"
                                             : "left out because a review drops it";
    row.reason += ", and nothing stands for it";
    if (!before.empty()) row.reason += "; the decoder warned: " + before;
    return row;
  }
  row.reason = "'" + kept_name + "', id " + std::to_string(selection.kept[decision]) +
               ", stands for it: distance " + std::to_string(selection.distances[decision]) +
               ", rule ";
  row.reason += rule_name(rule);
  if (!before.empty()) row.reason += "; the decoder warned: " + before;
  return row;
}

std::string to_json_lines(const std::vector<LedgerRow>& rows) {
  std::string text;
  for (const LedgerRow& row : rows) {
    Json line;
    line["id"] = row.id;
    line["name"] = to_utf8(row.name);
    line["split"] = split_name(row.split);
    line["class"] = fate_name(row.fate);
    if (row.bytes) line["bytes"] = *row.bytes;
    if (!row.reason.empty()) line["reason"] = to_utf8(row.reason);
    text += line.dump();
    text += '\n';
  }
  return text;
}

std::vector<LedgerRow> parse_ledger(const std::string& text, const std::string& where) {
  std::vector<LedgerRow> rows;
  Parser parser(where);
  std::string_view rest = text;
  for (std::size_t end = 0; !rest.empty(); rest.remove_prefix(end + 1)) {
    end = rest.find('\n');
    if (end == std::string_view::npos) parser.cut_short();
    rows.push_back(parser.parse(rest.substr(0, end)));
  }
  return rows;
}

void for_each_row(const InputFile& ledger, const std::function<void(const LedgerRow&)>& take) {
  Parser parser(ledger.path().string());
  for_each_line(ledger, parser,
                [&](std::uint64_t, std::string_view line) { take(parser.parse(line)); });
}

void for_each_remark(const InputFile& ledger, const std::function<void(const LedgerRow&)>& take) {
  // The end of such a line as written by to_json_lines(). No text can contain it, because its
  // quotes would be escaped.
  constexpr std::string_view kNothingToSay = R"(,"class":"ok"})";
  Parser parser(ledger.path().string());
  for_each_line(ledger, parser, [&](std::uint64_t, std::string_view line) {
    if (!line.ends_with(kNothingToSay)) take(parser.parse(line));
  });
}

FateCounts count_fates(const std::vector<LedgerRow>& rows) {
  FateCounts counts{};
  for (const LedgerRow& row : rows) ++counts[static_cast<std::size_t>(row.fate)];
  return counts;
}

std::map<std::string, std::uint64_t> by_name(const FateCounts& counts) {
  std::map<std::string, std::uint64_t> out;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (static_cast<Fate>(i) == Fate::kDuplicate && counts[i] == 0) continue;
    out[std::string(kFates[i])] = counts[i];
  }
  return out;
}

LedgerNames::LedgerNames(InputFile ledger) : ledger_(std::move(ledger)) {
  const std::string where = ledger_.path().string();
  std::uint64_t lines = 0;
  for_each_line(ledger_, Parser(where), [&](std::uint64_t begin, std::string_view line) {
    if (lines++ % kBlockLines != 0) return;
    blocks_.push_back({Parser(where).parse(line).id, begin});
  });
}

std::string LedgerNames::operator()(SampleId id) const {
  const auto after = std::ranges::upper_bound(blocks_, id, {}, &Block::first);
  if (after != blocks_.begin()) {
    const std::uint64_t begin = std::prev(after)->begin;
    const std::uint64_t end = after == blocks_.end() ? ledger_.size() : after->begin;
    std::string text(end - begin, '\0');
    ledger_.read_at(begin, std::as_writable_bytes(std::span(text)));
    // Finds the line by its beginning, as written by to_json_lines(), so that only one is parsed.
    const std::string start = "{\"id\":" + std::to_string(id) + ",";
    std::size_t at = text.starts_with(start) ? 0 : text.find("\n" + start);
    if (at != std::string::npos) {
      if (at > 0) ++at;
      const std::string_view line = std::string_view(text).substr(at, text.find('\n', at) - at);
      return Parser(ledger_.path().string()).parse(line).name;
    }
  }
  throw Error(ledger_.path().string() + " has no input " + std::to_string(id));
}

}  // namespace winnow::pipeline
