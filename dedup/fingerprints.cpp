#include "dedup/fingerprints.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "common/error.h"
#include "dedup/column_file.h"

namespace winnow::dedup {
namespace {

constexpr FileKind kKind{"WNWFPRNT", 1, "fingerprint table"};
constexpr std::string_view kCodesPrefix = "codes:";

struct Checker {
  const std::string& where;
  std::size_t rows;

  void require(bool good, const std::string& why) const {
    if (!good) throw FormatError(where + " is not a fingerprint table: " + why + "; make it again");
  }
  void size(std::size_t count, const char* column) const {
    require(count == rows, "it has " + std::to_string(rows) + " ids and " + std::to_string(count) +
                               " entries of '" + column + "'");
  }
  template <class T>
  void ragged(const Ragged<T>& column, const char* name) const {
    size(column.offsets.empty() ? 0 : column.offsets.size() - 1, name);
    require(!column.offsets.empty() && column.offsets.front() == 0 &&
                std::is_sorted(column.offsets.begin(), column.offsets.end()) &&
                column.offsets.back() == column.values.size(),
            std::string("the offsets of '") + name + "' do not fit its values");
  }
  void numbers(const std::vector<float>& column, const char* name) const {
    size(column.size(), name);
    require(std::none_of(column.begin(), column.end(), [](float x) { return std::isnan(x); }),
            std::string("'") + name + "' holds what is not a number");
  }
};

bool plain_name(std::string_view name) noexcept {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

std::string column_name(const CodeColumn& column) {
  return std::string(kCodesPrefix) + column.hash + ":" + std::to_string(column.version) + ":" +
         std::to_string(column.bits);
}

// The whole of `text` as a number; nothing else will do.
template <class T>
std::optional<T> parse_number(std::string_view text) noexcept {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The inverse of column_name, without words; empty when `name` is not of that form.
std::optional<CodeColumn> parse_column_name(std::string_view name) {
  if (!name.starts_with(kCodesPrefix)) return std::nullopt;
  const std::string_view rest = name.substr(kCodesPrefix.size());
  const std::size_t first = rest.find(':');
  const std::size_t second = first == rest.npos ? rest.npos : rest.find(':', first + 1);
  if (second == rest.npos) return std::nullopt;
  const auto version = parse_number<std::uint32_t>(rest.substr(first + 1, second - first - 1));
  const auto bits = parse_number<int>(rest.substr(second + 1));
  if (!version || !bits) return std::nullopt;
  CodeColumn column{std::string(rest.substr(0, first)), *version, *bits, {}};
  if (column.bits <= 0 || column_name(column) != name) return std::nullopt;
  return column;
}

template <class T>
std::span<const T> view(const std::vector<T>& values) noexcept {
  return values;
}

template <class T>
void append_values(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

template <class T>
bool fits(const Ragged<T>& to, const Ragged<T>& from) noexcept {
  return to.values.size() + from.values.size() <= std::numeric_limits<std::uint32_t>::max();
}

template <class T>
void append_ragged(Ragged<T>& to, const Ragged<T>& from) {
  const std::uint32_t base = to.offsets.back();
  append_values(to.values, from.values);
  for (std::size_t i = 1; i < from.offsets.size(); ++i) {
    to.offsets.push_back(base + from.offsets[i]);
  }
}

bool same_hashes(const Fingerprints& a, const Fingerprints& b) {
  return std::ranges::equal(a.codes, b.codes, [](const CodeColumn& x, const CodeColumn& y) {
    return x.hash == y.hash && x.version == y.version && x.bits == y.bits;
  });
}

}  // namespace

const CodeColumn* Fingerprints::find_codes(std::string_view hash) const noexcept {
  for (const CodeColumn& column : codes) {
    if (column.hash == hash) return &column;
  }
  return nullptr;
}

void check_table(const Fingerprints& table, const std::string& where) {
  const Checker check{where, table.size()};
  check.require(table.size() < std::numeric_limits<std::uint32_t>::max(), "it has too many rows");
  check.require(std::ranges::adjacent_find(table.ids, std::greater_equal<>()) == table.ids.end(),
                "its ids do not ascend");
  check.size(table.splits.size(), "splits");
  check.require(
      std::ranges::all_of(table.splits, [](Split s) { return static_cast<int>(s) < kSplitCount; }),
      "it names a split that does not exist");
  check.ragged(table.labels, "labels");
  check.ragged(table.groups, "groups");
  check.size(table.widths_px.size(), "widths_px");
  check.size(table.heights_px.size(), "heights_px");
  check.size(table.file_bytes.size(), "file_bytes");
  check.size(table.file_hashes.size(), "file_hashes");
  check.size(table.pixel_hashes.size(), "pixel_hashes");
  check.numbers(table.sharpness, "sharpness");
  check.numbers(table.quality, "quality");
  for (const CodeColumn& column : table.codes) {
    check.require(plain_name(column.hash) && table.find_codes(column.hash) == &column,
                  "a hash has a bad name or is there twice");
    check.require(column.bits > 0 && column.bits % 64 == 0 &&
                      column.words.size() % column.words_per_code() == 0,
                  "the codes of '" + column.hash + "' are not whole words");
    check.size(column.words.size() / column.words_per_code(), column.hash.c_str());
  }
}

Bytes serialize(const Fingerprints& table) {
  check_table(table, "the table to be written");
  ColumnFileWriter out;
  out.add("ids", view(table.ids));
  out.add("splits", view(table.splits));
  out.add("labels:offsets", view(table.labels.offsets));
  out.add("labels:values", view(table.labels.values));
  out.add("groups:offsets", view(table.groups.offsets));
  out.add("groups:values", view(table.groups.values));
  out.add("widths_px", view(table.widths_px));
  out.add("heights_px", view(table.heights_px));
  out.add("file_bytes", view(table.file_bytes));
  out.add("file_hashes", view(table.file_hashes));
  out.add("pixel_hashes", view(table.pixel_hashes));
  out.add("sharpness", view(table.sharpness));
  out.add("quality", view(table.quality));
  for (const CodeColumn& column : table.codes) out.add(column_name(column), view(column.words));
  return out.finish(kKind, table.size());
}

Fingerprints parse_fingerprints(BytesView bytes, const std::string& where) {
  ColumnFileReader in(bytes, kKind, where);
  const std::uint64_t rows = in.rows();
  if (rows >= std::numeric_limits<std::uint32_t>::max()) in.fail("it has too many rows");
  Fingerprints table;
  table.ids = in.take<SampleId>("ids", rows);
  table.splits = in.take<Split>("splits", rows);
  table.labels.offsets = in.take<std::uint32_t>("labels:offsets", rows + 1);
  table.labels.values = in.take<std::int32_t>("labels:values", std::nullopt);
  table.groups.offsets = in.take<std::uint32_t>("groups:offsets", rows + 1);
  table.groups.values = in.take<char>("groups:values", std::nullopt);
  table.widths_px = in.take<std::uint32_t>("widths_px", rows);
  table.heights_px = in.take<std::uint32_t>("heights_px", rows);
  table.file_bytes = in.take<std::uint64_t>("file_bytes", rows);
  table.file_hashes = in.take<Hash128>("file_hashes", rows);
  table.pixel_hashes = in.take<Hash128>("pixel_hashes", rows);
  table.sharpness = in.take<float>("sharpness", rows);
  table.quality = in.take<float>("quality", rows);
  while (!in.next_name().empty()) {
    const std::string name(in.next_name());
    std::optional<CodeColumn> column = parse_column_name(name);
    if (!column) in.finish();  // says that the column is unknown
    column->words = in.take<std::uint64_t>(name, rows * column->words_per_code());
    table.codes.push_back(*std::move(column));
  }
  check_table(table, where);
  return table;
}

void append(Fingerprints& table, const Fingerprints& more) {
  if (more.size() == 0) return;
  if (table.size() == 0) {
    table = more;
    return;
  }
  if (more.ids.front() <= table.ids.back()) {
    throw UsageError("cannot append fingerprints from id " + std::to_string(more.ids.front()) +
                     " to a table that ends at id " + std::to_string(table.ids.back()) +
                     "; append tables in the order of their ids");
  }
  if (!same_hashes(table, more)) {
    throw UsageError(
        "cannot append fingerprints made with other hashes or other versions of them; "
        "fingerprint both with the same --hash and the same winnow");
  }
  if (!fits(table.labels, more.labels) || !fits(table.groups, more.groups) ||
      table.size() + more.size() >= std::numeric_limits<std::uint32_t>::max()) {
    throw UsageError("a fingerprint table holds at most 2^32 - 2 rows; split the data set");
  }
  append_values(table.ids, more.ids);
  append_values(table.splits, more.splits);
  append_ragged(table.labels, more.labels);
  append_ragged(table.groups, more.groups);
  append_values(table.widths_px, more.widths_px);
  append_values(table.heights_px, more.heights_px);
  append_values(table.file_bytes, more.file_bytes);
  append_values(table.file_hashes, more.file_hashes);
  append_values(table.pixel_hashes, more.pixel_hashes);
  append_values(table.sharpness, more.sharpness);
  append_values(table.quality, more.quality);
  for (std::size_t i = 0; i < table.codes.size(); ++i) {
    append_values(table.codes[i].words, more.codes[i].words);
  }
}

}  // namespace winnow::dedup
