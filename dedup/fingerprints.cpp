#include "dedup/fingerprints.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "common/error.h"
#include "dedup/column_file.h"

namespace winnow::dedup {
namespace {

constexpr FileKind kKind{"WNWFPRNT", 1, "fingerprint table"};
constexpr std::string_view kCodesPrefix = "codes:";
constexpr const char* kTooMany =
    "a fingerprint table holds at most 2^32 - 2 rows; split the data set";
constexpr std::uint64_t kMostRows = std::numeric_limits<std::uint32_t>::max();  // less than that

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
  for (const std::string_view scale : {"@1/2", "@1/4", "@1/8"}) {
    if (name.ends_with(scale)) name.remove_suffix(scale.size());
  }
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

// The places of the columns whose length is not the number of rows.
constexpr std::size_t kLabelOffsets = 2;
constexpr std::size_t kLabels = 3;
constexpr std::size_t kGroupOffsets = 4;
constexpr std::size_t kGroups = 5;

// All columns in the order of the file.
std::vector<ColumnView> columns_of(const Fingerprints& table) {
  std::vector<ColumnView> columns{column("ids", view(table.ids)),
                                  column("splits", view(table.splits)),
                                  column("labels:offsets", view(table.labels.offsets)),
                                  column("labels:values", view(table.labels.values)),
                                  column("groups:offsets", view(table.groups.offsets)),
                                  column("groups:values", view(table.groups.values)),
                                  column("widths_px", view(table.widths_px)),
                                  column("heights_px", view(table.heights_px)),
                                  column("file_bytes", view(table.file_bytes)),
                                  column("file_hashes", view(table.file_hashes)),
                                  column("pixel_hashes", view(table.pixel_hashes)),
                                  column("sharpness", view(table.sharpness)),
                                  column("quality", view(table.quality))};
  for (const CodeColumn& codes : table.codes) {
    columns.push_back(column(column_name(codes), view(codes.words)));
  }
  return columns;
}

// Of a table of that size with the hashes of `like`.
std::vector<ColumnShape> shapes_of(const Fingerprints& like, const FingerprintWriter::Size& size) {
  if (size.rows >= kMostRows || size.labels > kMostRows || size.group_bytes > kMostRows) {
    throw UsageError(kTooMany);
  }
  std::vector<ColumnShape> shapes;
  for (ColumnView& column : columns_of(like)) {
    column.shape.count = size.rows;
    shapes.push_back(std::move(column.shape));
  }
  shapes[kLabelOffsets].count += 1;
  shapes[kLabels].count = size.labels;
  shapes[kGroupOffsets].count += 1;
  shapes[kGroups].count = size.group_bytes;
  for (std::size_t i = 0; i < like.codes.size(); ++i) {
    shapes[shapes.size() - like.codes.size() + i].count *= like.codes[i].words_per_code();
  }
  return shapes;
}

std::vector<CodeColumn> without_codes(std::vector<CodeColumn> columns) {
  for (CodeColumn& column : columns) column.words.clear();
  return columns;
}

bool same_hashes(const std::vector<CodeColumn>& a, const std::vector<CodeColumn>& b) {
  return std::ranges::equal(a, b, [](const CodeColumn& x, const CodeColumn& y) {
    return x.hash == y.hash && x.version == y.version && x.bits == y.bits;
  });
}

template <class T>
std::vector<T> marked(const std::vector<T>& values, const std::vector<bool>& keep,
                      std::size_t width = 1) {
  std::vector<T> out;
  if (values.size() != keep.size() * width) return out;  // not among the columns that were read
  for (std::size_t row = 0; row < keep.size(); ++row) {
    if (!keep[row]) continue;
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(row * width);
    out.insert(out.end(), at, at + static_cast<std::ptrdiff_t>(width));
  }
  return out;
}

template <class T>
Ragged<T> marked(const Ragged<T>& rows, const std::vector<bool>& keep) {
  Ragged<T> out;
  if (rows.size() != keep.size()) return out;
  for (std::size_t row = 0; row < keep.size(); ++row) {
    if (keep[row]) out.push_back(rows[row]);
  }
  return out;
}

// The next row of several tables.
struct NextRow {
  SampleId id;
  std::uint32_t table;
  std::uint32_t row;
};

// A column of tables with the rows in that order; `of` gives the column of one.
template <class Of>
auto in_order(std::span<const Fingerprints> tables, const std::vector<NextRow>& order, const Of& of,
              std::size_t width = 1) {
  std::remove_cvref_t<decltype(of(tables.front()))> out;
  for (const NextRow& next : order) {
    const auto& values = of(tables[next.table]);
    if (values.empty()) break;  // not among the columns that they have
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(next.row * width);
    out.insert(out.end(), at, at + static_cast<std::ptrdiff_t>(width));
  }
  return out;
}

template <class Of>
auto rows_in_order(std::span<const Fingerprints> tables, const std::vector<NextRow>& order,
                   const Of& of) {
  std::remove_cvref_t<decltype(of(tables.front()))> out;
  for (const NextRow& next : order) {
    const auto& rows = of(tables[next.table]);
    if (rows.size() == 0) break;
    out.push_back(rows[next.row]);
  }
  return out;
}

constexpr const char* kOtherHashes =
    "cannot append fingerprints made with other hashes or other versions of them; "
    "fingerprint both with the same --hash and the same winnow";

// Which columns are meant.
class Wanted {
 public:
  explicit Wanted(const ColumnNames* names) : names_(names) {}
  bool operator()(std::string_view name) const { return !names_ || names_->contains(name); }
  bool operator()(const CodeColumn& column) const {
    return (*this)(std::string(kCodesPrefix) + column.hash);
  }

 private:
  const ColumnNames* names_;
};

Fingerprints parse(ColumnFileReader in, const std::string& where, const ColumnNames* columns) {
  const Wanted wanted(columns);
  const std::uint64_t rows = in.rows();
  if (rows >= kMostRows) in.fail("it has too many rows");
  const auto read = [&]<class T>(std::vector<T>& values, const char* column, const char* wanted_as,
                                 std::optional<std::uint64_t> count) {
    if (wanted(wanted_as)) {
      values = in.take<T>(column, count);
    } else {
      in.skip<T>(column, count);
    }
  };
  Fingerprints table;
  table.ids = in.take<SampleId>("ids", rows);
  table.splits = in.take<Split>("splits", rows);
  read(table.labels.offsets, "labels:offsets", "labels", rows + 1);
  read(table.labels.values, "labels:values", "labels", std::nullopt);
  read(table.groups.offsets, "groups:offsets", "groups", rows + 1);
  read(table.groups.values, "groups:values", "groups", std::nullopt);
  read(table.widths_px, "widths_px", "widths_px", rows);
  read(table.heights_px, "heights_px", "heights_px", rows);
  read(table.file_bytes, "file_bytes", "file_bytes", rows);
  read(table.file_hashes, "file_hashes", "file_hashes", rows);
  read(table.pixel_hashes, "pixel_hashes", "pixel_hashes", rows);
  read(table.sharpness, "sharpness", "sharpness", rows);
  read(table.quality, "quality", "quality", rows);
  while (!in.next_name().empty()) {
    const std::string name(in.next_name());
    std::optional<CodeColumn> column = parse_column_name(name);
    if (!column) in.finish();  // says that the column is unknown
    const std::uint64_t words = rows * column->words_per_code();
    if (wanted(*column)) {
      column->words = in.take<std::uint64_t>(name, words);
      table.codes.push_back(*std::move(column));
    } else {
      in.skip<std::uint64_t>(name, words);
    }
  }
  check_table(table, where, columns);
  return table;
}

}  // namespace

const CodeColumn* Fingerprints::find_codes(std::string_view hash) const noexcept {
  for (const CodeColumn& column : codes) {
    if (column.hash == hash) return &column;
  }
  return nullptr;
}

Fingerprints select_columns(const Fingerprints& table, const ColumnNames& columns) {
  const Wanted wanted(&columns);
  Fingerprints out;
  out.ids = table.ids;
  out.splits = table.splits;
  if (wanted("labels")) out.labels = table.labels;
  if (wanted("groups")) out.groups = table.groups;
  if (wanted("widths_px")) out.widths_px = table.widths_px;
  if (wanted("heights_px")) out.heights_px = table.heights_px;
  if (wanted("file_bytes")) out.file_bytes = table.file_bytes;
  if (wanted("file_hashes")) out.file_hashes = table.file_hashes;
  if (wanted("pixel_hashes")) out.pixel_hashes = table.pixel_hashes;
  if (wanted("sharpness")) out.sharpness = table.sharpness;
  if (wanted("quality")) out.quality = table.quality;
  std::ranges::copy_if(table.codes, std::back_inserter(out.codes), wanted);
  return out;
}

Fingerprints select_rows(const Fingerprints& table, const std::vector<bool>& keep) {
  Fingerprints out{.ids = marked(table.ids, keep),
                   .splits = marked(table.splits, keep),
                   .labels = marked(table.labels, keep),
                   .groups = marked(table.groups, keep),
                   .widths_px = marked(table.widths_px, keep),
                   .heights_px = marked(table.heights_px, keep),
                   .file_bytes = marked(table.file_bytes, keep),
                   .file_hashes = marked(table.file_hashes, keep),
                   .pixel_hashes = marked(table.pixel_hashes, keep),
                   .sharpness = marked(table.sharpness, keep),
                   .quality = marked(table.quality, keep),
                   .codes = {}};
  for (const CodeColumn& codes : table.codes) {
    out.codes.push_back(
        {codes.hash, codes.version, codes.bits, marked(codes.words, keep, codes.words_per_code())});
  }
  return out;
}

void append_rows(Fingerprints& table, const Fingerprints& rows) {
  const auto append = [&](auto Fingerprints::*column) {
    const auto& from = rows.*column;
    auto& to = table.*column;
    to.insert(to.end(), from.begin(), from.end());
  };
  const auto append_ragged = [&](auto Fingerprints::*column) {
    const auto& from = rows.*column;
    auto& to = table.*column;
    if (from.values.size() > kMostRows - to.values.size()) throw UsageError(kTooMany);
    const auto by = static_cast<std::uint32_t>(to.values.size());
    to.values.insert(to.values.end(), from.values.begin(), from.values.end());
    for (std::size_t i = 1; i < from.offsets.size(); ++i)
      to.offsets.push_back(by + from.offsets[i]);
  };
  append(&Fingerprints::ids);
  append(&Fingerprints::splits);
  append_ragged(&Fingerprints::labels);
  append_ragged(&Fingerprints::groups);
  append(&Fingerprints::widths_px);
  append(&Fingerprints::heights_px);
  append(&Fingerprints::file_bytes);
  append(&Fingerprints::file_hashes);
  append(&Fingerprints::pixel_hashes);
  append(&Fingerprints::sharpness);
  append(&Fingerprints::quality);
  if (!same_hashes(table.codes, rows.codes)) throw UsageError(kOtherHashes);
  for (std::size_t i = 0; i < rows.codes.size(); ++i) {
    const std::vector<std::uint64_t>& from = rows.codes[i].words;
    table.codes[i].words.insert(table.codes[i].words.end(), from.begin(), from.end());
  }
}

Fingerprints merge(std::span<const Fingerprints> tables) {
  if (tables.empty()) return {};
  std::vector<NextRow> order;
  for (std::uint32_t table = 0; table < tables.size(); ++table) {
    for (std::uint32_t row = 0; row < tables[table].size(); ++row) {
      order.push_back({tables[table].ids[row], table, row});
    }
  }
  std::ranges::sort(order, {}, &NextRow::id);
  const auto column = [&](auto Fingerprints::*member) {
    return in_order(
        tables, order, [member](const Fingerprints& t) -> auto& { return t.*member; });
  };
  const auto ragged = [&](auto Fingerprints::*member) {
    return rows_in_order(
        tables, order, [member](const Fingerprints& t) -> auto& { return t.*member; });
  };
  Fingerprints out{.ids = column(&Fingerprints::ids),
                   .splits = column(&Fingerprints::splits),
                   .labels = ragged(&Fingerprints::labels),
                   .groups = ragged(&Fingerprints::groups),
                   .widths_px = column(&Fingerprints::widths_px),
                   .heights_px = column(&Fingerprints::heights_px),
                   .file_bytes = column(&Fingerprints::file_bytes),
                   .file_hashes = column(&Fingerprints::file_hashes),
                   .pixel_hashes = column(&Fingerprints::pixel_hashes),
                   .sharpness = column(&Fingerprints::sharpness),
                   .quality = column(&Fingerprints::quality),
                   .codes = without_codes(tables.front().codes)};
  for (std::size_t i = 0; i < out.codes.size(); ++i) {
    const auto words = [i](const Fingerprints& t) -> auto& { return t.codes.at(i).words; };
    out.codes[i].words = in_order(tables, order, words, out.codes[i].words_per_code());
  }
  return out;
}

void check_table(const Fingerprints& table, const std::string& where, const ColumnNames* columns) {
  const Checker check{where, table.size()};
  const Wanted wanted(columns);
  check.require(table.size() < kMostRows, "it has too many rows");
  check.require(std::ranges::adjacent_find(table.ids, std::greater_equal<>()) == table.ids.end(),
                "its ids do not ascend");
  check.size(table.splits.size(), "splits");
  check.require(
      std::ranges::all_of(table.splits, [](Split s) { return static_cast<int>(s) < kSplitCount; }),
      "it names a split that does not exist");
  const auto size = [&](const auto& values, const char* column) {
    if (wanted(column)) check.size(values.size(), column);
  };
  if (wanted("labels")) check.ragged(table.labels, "labels");
  if (wanted("groups")) check.ragged(table.groups, "groups");
  size(table.widths_px, "widths_px");
  size(table.heights_px, "heights_px");
  size(table.file_bytes, "file_bytes");
  size(table.file_hashes, "file_hashes");
  size(table.pixel_hashes, "pixel_hashes");
  if (wanted("sharpness")) check.numbers(table.sharpness, "sharpness");
  if (wanted("quality")) check.numbers(table.quality, "quality");
  for (const CodeColumn& column : table.codes) {
    if (!wanted(column)) continue;
    check.require(plain_name(column.hash) && table.find_codes(column.hash) == &column,
                  "a hash has a bad name or is there twice");
    check.require(column.bits > 0 && column.bits % (64 * column.orientations()) == 0 &&
                      column.words.size() % column.words_per_code() == 0,
                  "the codes of '" + column.hash + "' are not whole words");
    check.size(column.words.size() / column.words_per_code(), column.hash.c_str());
  }
}

Bytes serialize(const Fingerprints& table) {
  check_table(table, "the table to be written");
  return column_file(kKind, table.size(), columns_of(table));
}

Fingerprints parse_fingerprints(BytesView bytes, const std::string& where) {
  return parse(ColumnFileReader(bytes, kKind, where), where, nullptr);
}

Fingerprints read_fingerprints(const InputFile& file, const ColumnNames* columns) {
  return parse(ColumnFileReader(file, kKind, ColumnFileReader::Content::kVouchedFor),
               file.path().string(), columns);
}

Hash128 write_rows(const std::filesystem::path& path, const ColumnSource& columns,
                   const std::vector<std::string>& hashes, const std::vector<bool>& keep) {
  const auto part = [&](std::string_view name) {
    return select_rows(columns({std::string(name)}), keep);
  };
  const auto codes_name = [](const std::string& hash) { return std::string(kCodesPrefix) + hash; };
  Fingerprints like;
  for (const std::string& hash : hashes) {
    for (CodeColumn& codes : part(codes_name(hash)).codes) {
      codes.words.clear();
      like.codes.push_back(std::move(codes));
    }
  }
  const auto rows = static_cast<std::uint64_t>(std::ranges::count(keep, true));
  const FingerprintWriter::Size size{rows, part("labels").labels.values.size(),
                                     part("groups").groups.values.size()};
  ColumnFileWriter file(path, kKind, size.rows, shapes_of(like, size));
  const auto put = [&file](const Fingerprints& table, std::initializer_list<std::size_t> places) {
    const std::vector<ColumnView> views = columns_of(table);
    for (const std::size_t place : places) file.append(place, views[place].data);
  };
  put(part("labels"), {0, 1, kLabelOffsets, kLabels});
  put(part("groups"), {kGroupOffsets, kGroups});
  constexpr std::size_t kFirstPlain = 2;  // of kColumns
  for (std::size_t i = kFirstPlain; i < kColumns.size(); ++i) {
    put(part(kColumns[i]), {kGroups + 1 + i - kFirstPlain});
  }
  const std::size_t first_codes = kGroups + 1 + kColumns.size() - kFirstPlain;
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    const Fingerprints codes = part(codes_name(hashes[i]));
    file.append(first_codes + i, columns_of(codes).back().data);
  }
  return file.finish();
}

FingerprintWriter::Size& FingerprintWriter::Size::operator+=(const Size& more) {
  rows += more.rows;
  labels += more.labels;
  group_bytes += more.group_bytes;
  return *this;
}

FingerprintWriter::Size FingerprintWriter::size_of(const Fingerprints& table) noexcept {
  return {table.size(), table.labels.values.size(), table.groups.values.size()};
}

FingerprintWriter::Size FingerprintWriter::size_of(const ColumnSource& table) {
  Size size = size_of(table({"labels"}));
  size.group_bytes = table({"groups"}).groups.values.size();
  return size;
}

FingerprintWriter::FingerprintWriter(std::filesystem::path path, const Fingerprints& like,
                                     const Size& size)
    : hashes_(without_codes(like.codes)),
      file_(std::move(path), kKind, size.rows, shapes_of(like, size)) {
  // The offsets of rows begin with a zero.
  const std::uint32_t zero = 0;
  for (const std::size_t column : {kLabelOffsets, kGroupOffsets}) {
    file_.append(column, std::as_bytes(std::span(&zero, 1)));
  }
}

void FingerprintWriter::append(const Fingerprints& rows) {
  if (rows.size() == 0) return;
  check_table(rows, "the rows to be written");
  if (done_.rows > 0 && rows.ids.front() <= last_id_) {
    throw UsageError("cannot append fingerprints from id " + std::to_string(rows.ids.front()) +
                     " to a table that ends at id " + std::to_string(last_id_) +
                     "; append tables in the order of their ids");
  }
  if (!same_hashes(hashes_, rows.codes)) {
    throw UsageError(kOtherHashes);
  }
  std::vector<ColumnView> columns = columns_of(rows);
  const auto moved = [](const std::vector<std::uint32_t>& offsets, std::uint64_t by) {
    std::vector<std::uint32_t> out(offsets.begin() + 1, offsets.end());
    for (std::uint32_t& offset : out) offset += static_cast<std::uint32_t>(by);
    return out;
  };
  const std::vector<std::uint32_t> labels = moved(rows.labels.offsets, done_.labels);
  const std::vector<std::uint32_t> groups = moved(rows.groups.offsets, done_.group_bytes);
  columns[kLabelOffsets].data = as_bytes(labels);
  columns[kGroupOffsets].data = as_bytes(groups);
  for (std::size_t i = 0; i < columns.size(); ++i) file_.append(i, columns[i].data);
  done_ += size_of(rows);
  last_id_ = rows.ids.back();
}

void FingerprintWriter::append(const ColumnSource& table) {
  if (done_.rows > 0) throw UsageError("a whole table can only be what a table begins with");
  const auto append_columns = [&](const Fingerprints& rows, std::size_t first, std::size_t count) {
    const std::vector<ColumnView> columns = columns_of(rows);
    for (std::size_t i = first; i < first + count; ++i) {
      BytesView data = columns[i].data;
      // The zero that offsets begin with is there already.
      if (i == kLabelOffsets || i == kGroupOffsets) data = data.subspan(sizeof(std::uint32_t));
      file_.append(i, data);
    }
  };
  {
    const Fingerprints rows = table({});
    if (rows.size() == 0) return;
    append_columns(rows, 0, kLabelOffsets);
    done_.rows = rows.size();
    last_id_ = rows.ids.back();
  }
  std::size_t at = kLabelOffsets;
  for (const std::string_view name : kColumns) {
    const std::size_t count = name == "labels" || name == "groups" ? 2 : 1;
    const Fingerprints rows = table({std::string(name)});
    if (name == "labels") done_.labels = rows.labels.values.size();
    if (name == "groups") done_.group_bytes = rows.groups.values.size();
    append_columns(rows, at, count);
    at += count;
  }
  for (const CodeColumn& hash : hashes_) {
    const Fingerprints rows = table({std::string(kCodesPrefix) + hash.hash});
    if (!same_hashes(rows.codes, {hash})) throw UsageError(kOtherHashes);
    file_.append(at++, std::as_bytes(std::span(rows.codes.front().words)));
  }
}

Hash128 FingerprintWriter::finish() { return file_.finish(); }

}  // namespace winnow::dedup
