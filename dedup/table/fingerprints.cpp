#include "dedup/table/fingerprints.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "common/error.h"
#include "dedup/hash/hash_name.h"
#include "dedup/table/column_file.h"
#include "dedup/table/thumbnail_source.h"

namespace winnow::dedup {
namespace {

// Version 2 has measures, version 3 thumbnails.
constexpr FileKind kFingerprintFile{"WNWFPRNT", 3, "fingerprint table", kThumbnails.name};
FileKind kind_of(bool audited, bool pictured) {
  FileKind kind = kFingerprintFile;
  kind.version = pictured ? 3 : audited ? 2 : 1;
  return kind;
}
constexpr std::size_t kRowsOfBlock = 1024;  // 3 MiB of thumbnails
constexpr std::string_view kCodesPrefix = "codes:";
constexpr const char* kTooMany =
    "a fingerprint table holds at most 2^32 - 2 rows, and 2^32 - 1 labels and bytes of group keys; "
    "split the data set";
constexpr std::uint64_t kMostValues = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMostFingerprints = kMostValues - 1;

// Visits all fields, thumbnails included.
template <class Visit>
constexpr void for_each_column(const Visit& visit) {
  for_each_field(visit);
  visit(kThumbnails);
}

// RaggedField, not Field.
template <class F>
constexpr bool is_ragged = requires(F field) {
  field.values;
};
// OptionalField or OptionalRaggedField.
template <class F>
constexpr bool is_optional = requires(F field) {
  field.rows;
};

struct Checker {
  const std::string& where;
  std::size_t rows;

  void require(bool good, const std::string& why) const {
    if (!good) throw FormatError(where + " is not a fingerprint table: " + why + "; make it again");
  }
  void size(std::size_t count, std::string_view column) const {
    require(count == rows, "it has " + std::to_string(rows) + " ids and " + std::to_string(count) +
                               " entries of '" + std::string(column) + "'");
  }
  template <class T>
  void column(const std::vector<T>& values, std::string_view name) const {
    size(values.size(), name);
  }
  template <class T>
  void column(const Ragged<T>& rows_of, std::string_view name) const {
    const std::vector<std::uint32_t>& offsets = rows_of.offsets;
    size(offsets.empty() ? 0 : offsets.size() - 1, name);
    require(!offsets.empty() && offsets.front() == 0 && std::ranges::is_sorted(offsets) &&
                offsets.back() == rows_of.values.size(),
            "the offsets of '" + std::string(name) + "' do not fit its values");
  }
  void column(const std::vector<float>& values, std::string_view name) const {
    size(values.size(), name);
    require(std::ranges::none_of(values, [](float x) { return std::isnan(x); }),
            "'" + std::string(name) + "' holds what is not a number");
  }
  void column(const Ragged<ThumbnailBlock>& thumbnails, std::string_view name) const {
    if (thumbnails.size() > 0 || !thumbnails.values.empty()) {
      column<ThumbnailBlock>(thumbnails, name);
    }
  }
  void column(const std::vector<Measures>& measures, std::string_view name) const {
    if (!measures.empty()) size(measures.size(), name);
    require(std::ranges::all_of(measures, is_sound),
            "'" + std::string(name) + "' holds what no picture measures");
  }
  void column(const std::vector<Split>& splits, std::string_view name) const {
    size(splits.size(), name);
    require(std::ranges::all_of(splits, [](Split s) { return static_cast<int>(s) < kSplitCount; }),
            "it names a split that does not exist");
  }
};

ThumbnailSize thumbnail_size_of(const Fingerprints& table, std::size_t row) noexcept {
  return thumbnail_size(table.widths_px[row], table.heights_px[row]);
}

// Whether the last block is padded with zeros.
bool is_padded(std::span<const ThumbnailBlock> blocks, ThumbnailSize size) {
  if (blocks.empty()) return true;
  const std::size_t pixels =
      static_cast<std::size_t>(size.width_px) * static_cast<std::size_t>(size.height_px);
  const std::size_t in_last = pixels - (blocks.size() - 1) * sizeof(ThumbnailBlock);
  return std::ranges::all_of(std::span(blocks.back()).subspan(in_last),
                             [](std::uint8_t x) { return x == 0; });
}

// Checks that each image has the number of blocks that its size requires.
void check_sizes(const Fingerprints& table, std::span<const std::uint32_t> offsets,
                 const Checker& check) {
  for (std::size_t row = 0; row < table.size(); ++row) {
    check.require(
        offsets[row + 1] - offsets[row] == thumbnail_blocks(thumbnail_size_of(table, row)),
        "a thumbnail has not the size of one of its image");
  }
}

void check_thumbnails(const Fingerprints& table, const Checker& check) {
  const std::size_t rows = table.size();
  const bool with_sizes = table.widths_px.size() == rows && table.heights_px.size() == rows;
  if (table.thumbnails.size() == 0 || !with_sizes) return;
  check_sizes(table, table.thumbnails.offsets, check);
  for (std::size_t row = 0; row < rows; ++row) {
    check.require(is_padded(table.thumbnails[row], thumbnail_size_of(table, row)),
                  "what lies behind a thumbnail is not zero");
  }
}

bool is_plain(const HashName& name) noexcept {
  return !name.row.empty() && std::ranges::all_of(name.row, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

std::string column_name(const CodeColumn& column) {
  return std::string(kCodesPrefix) + column.hash + ":" + std::to_string(column.version) + ":" +
         std::to_string(column.bits);
}

// Parses the whole of `text` as a number; nullopt otherwise.
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
  CodeColumn column = empty_codes(std::string(rest.substr(0, first)), *version, *bits);
  if (column.bits <= 0 || column_name(column) != name) return std::nullopt;
  return column;
}

// A ragged column is two in the file.
std::string offsets_of(std::string_view name) { return std::string(name) + ":offsets"; }

template <class T>
void add_views(std::vector<ColumnView>& to, std::string_view name, const std::vector<T>& values) {
  to.push_back(column(std::string(name), view(values)));
}
template <class T>
void add_views(std::vector<ColumnView>& to, std::string_view name, const Ragged<T>& rows) {
  add_views(to, offsets_of(name), rows.offsets);
  add_views(to, name_of_values(name), rows.values);
}

bool is_pictured(const Fingerprints& table) noexcept { return table.thumbnails.size() > 0; }

// All columns in the order of the file. `hashes` are those of the thumbnails; borrowed.
std::vector<ColumnView> columns_of(const Fingerprints& table,
                                   const std::vector<std::uint64_t>& hashes) {
  std::vector<ColumnView> columns;
  for_each_field([&]<class F>(const F& field) {
    const auto& column = table.*field.column;
    if constexpr (is_optional<F>) {
      if (column.empty()) return;
    }
    add_views(columns, field.name, column);
  });
  for (const CodeColumn& codes : table.codes) add_views(columns, column_name(codes), codes.words);
  if (is_pictured(table)) {
    add_views(columns, offsets_of(kThumbnails.name), table.thumbnails.offsets);
    add_views(columns, name_of_hashes(kThumbnails.name), hashes);
    add_views(columns, name_of_values(kThumbnails.name), table.thumbnails.values);
  }
  return columns;
}

// Whether a table of that size has the column of a field.
template <class F>
bool has(const TableSize& size, const F& field) noexcept {
  if constexpr (is_optional<F>) {
    return size.rows > 0 && size.*field.rows == size.rows;
  } else {
    return true;
  }
}

// The columns of a table of this size with the hashes of `like`.
std::vector<ColumnShape> shapes_of(const Fingerprints& like, const TableSize& size) {
  if (size.rows > kMostFingerprints) throw UsageError(kTooMany);
  std::vector<ColumnShape> shapes;
  const auto add = [&](const ColumnView& column, std::uint64_t count) {
    shapes.push_back({column.shape.name, column.shape.element_bytes, count});
  };
  for_each_field([&]<class F>(const F& field) {
    if (!has(size, field)) return;
    std::vector<ColumnView> views;
    add_views(views, field.name, like.*field.column);
    add(views.front(), size.rows + (is_ragged<F> ? 1 : 0));
    if constexpr (is_ragged<F>) add(views.back(), ragged_offset(size.*field.values));
  });
  for (const CodeColumn& codes : like.codes) {
    add(column(column_name(codes), view(codes.words)), size.rows * codes.words_per_code());
  }
  if (has(size, kThumbnails)) {
    const std::uint32_t blocks = ragged_offset(size.thumbnail_blocks);
    const std::uint64_t bytes = std::uint64_t{blocks} * sizeof(ThumbnailBlock);
    shapes.push_back({offsets_of(kThumbnails.name), sizeof(std::uint32_t), size.rows + 1});
    shapes.push_back(
        {name_of_hashes(kThumbnails.name), sizeof(std::uint64_t), apart_hash_count(bytes)});
    shapes.push_back({name_of_values(kThumbnails.name), sizeof(ThumbnailBlock), blocks});
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

// The values of the marked rows; `width` values a row.
template <class T>
std::vector<T> marked(const std::vector<T>& values, const std::vector<bool>& keep,
                      std::size_t width = 1) {
  std::vector<T> out;
  if (values.size() != keep.size() * width) return out;  // the column was not read
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

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}
template <class T>
void append(Ragged<T>& to, const Ragged<T>& from) {
  ragged_offset(to.values.size() + from.values.size());  // throws if the sum is too large
  const auto by = static_cast<std::uint32_t>(to.values.size());
  append(to.values, from.values);
  for (std::size_t i = 1; i < from.offsets.size(); ++i) to.offsets.push_back(by + from.offsets[i]);
}

// The next row of several tables.
struct NextRow {
  SampleId id;
  std::uint32_t table;
  std::uint32_t row;
};

// Merges one column, which `of` selects, of several tables in that order of rows.
template <class T, class Of>
void put_in_order(std::vector<T>& out, std::span<const Fingerprints> tables,
                  const std::vector<NextRow>& order, const Of& of, std::size_t width = 1) {
  for (const NextRow& next : order) {
    const std::vector<T>& values = of(tables[next.table]);
    if (values.empty()) break;  // the column was not read
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(next.row * width);
    out.insert(out.end(), at, at + static_cast<std::ptrdiff_t>(width));
  }
}
template <class T, class Of>
void put_in_order(Ragged<T>& out, std::span<const Fingerprints> tables,
                  const std::vector<NextRow>& order, const Of& of) {
  for (const NextRow& next : order) {
    const Ragged<T>& rows = of(tables[next.table]);
    if (rows.size() == 0) break;
    out.push_back(rows[next.row]);
  }
}

// Drops optional columns that some rows lack.
void drop_partial(Fingerprints& table) {
  for_each_column([&]<class F>(const F& field) {
    if constexpr (is_optional<F>) {
      auto& column = table.*field.column;
      if (column.size() != table.size()) column = {};
    }
  });
}

constexpr const char* kOtherHashes =
    "cannot append fingerprints made with other hashes or other versions of them; "
    "fingerprint both with the same --hash and the same winnow";

// The offsets of rows that follow `values` values.
template <class T>
std::vector<std::uint32_t> offsets_behind(std::uint64_t values, const Ragged<T>& rows) {
  std::vector<std::uint32_t> offsets(rows.offsets.begin() + 1, rows.offsets.end());
  for (std::uint32_t& offset : offsets) offset = ragged_offset(values + offset);
  return offsets;
}

// Appends the rows of a field that follow the `done` ones to the column at `place` (two columns if
// it is ragged), and advances `place`.
template <class F>
void append_field(ColumnFileWriter& file, std::size_t& place, const F& field,
                  const Fingerprints& rows, TableSize& done) {
  const auto& column = rows.*field.column;
  if constexpr (is_ragged<F>) {
    file.append(place++, as_bytes(offsets_behind(done.*field.values, column)));
    done.*field.values += column.values.size();
    file.append(place++, as_bytes(column.values));
  } else {
    file.append(place++, as_bytes(column));
  }
}

std::string codes_name(const CodeColumn& column) { return std::string(kCodesPrefix) + column.hash; }

// The requested columns.
class WantedColumns {
 public:
  explicit WantedColumns(const ColumnNames* names) : names_(names) {}
  bool operator()(const auto& field) const { return field.always || contains(field.name); }
  bool operator()(const CodeColumn& column) const { return contains(codes_name(column)); }

 private:
  bool contains(std::string_view name) const { return !names_ || names_->contains(name); }

  const ColumnNames* names_;
};

// Takes the next column, or skips it.
template <class T>
void read(ColumnFileReader& in, std::string_view name, std::optional<std::uint64_t> count,
          bool wanted, std::vector<T>& values) {
  if (wanted) {
    values = in.take<T>(name, count);
  } else {
    in.skip<T>(name, count);
  }
}

// The thumbnail columns, if they are next: row offsets, and blocks.
struct Thumbnails {
  std::vector<std::uint32_t> offsets;
  ColumnApart blocks;

  Ragged<ThumbnailBlock> rows(std::size_t first, std::size_t count) const {
    Ragged<ThumbnailBlock> rows;
    const std::uint32_t begin = offsets[first];
    rows.values.resize(offsets[first + count] - begin);
    blocks.read(std::uint64_t{begin} * sizeof(ThumbnailBlock),
                std::as_writable_bytes(std::span(rows.values)));
    rows.offsets.resize(count + 1);
    for (std::size_t i = 0; i <= count; ++i) rows.offsets[i] = offsets[first + i] - begin;
    return rows;
  }
};

Thumbnails take_thumbnails(ColumnFileReader& in) {
  Thumbnails out;
  out.offsets = in.take<std::uint32_t>(offsets_of(kThumbnails.name), in.rows() + 1);
  out.blocks = in.take_apart<ThumbnailBlock>();
  if (out.offsets.front() != 0 || !std::ranges::is_sorted(out.offsets) ||
      out.offsets.back() * sizeof(ThumbnailBlock) != out.blocks.bytes()) {
    in.fail("the offsets of its thumbnails do not match their size");
  }
  return out;
}

// Takes the columns before the thumbnails. Returns whether thumbnails follow.
bool take_columns(ColumnFileReader& in, const WantedColumns& wanted, Fingerprints& table) {
  const std::uint64_t rows = in.rows();
  if (rows > kMostFingerprints) in.fail("it has too many rows");
  bool audited = false;
  for_each_field([&]<class F>(const F& field) {
    auto& column = table.*field.column;
    if constexpr (is_optional<F>) {
      audited = in.next_name() == field.name;
      if (!audited) return;
    }
    if constexpr (is_ragged<F>) {
      read(in, offsets_of(field.name), rows + 1, wanted(field), column.offsets);
      read(in, name_of_values(field.name), std::nullopt, wanted(field), column.values);
    } else {
      read(in, field.name, rows, wanted(field), column);
    }
  });
  const std::string thumbnails = offsets_of(kThumbnails.name);
  while (!in.next_name().empty() && in.next_name() != thumbnails) {
    const std::string name(in.next_name());
    std::optional<CodeColumn> column = parse_column_name(name);
    if (!column) in.finish();  // throws: unknown column
    read(in, name, rows * column->words_per_code(), wanted(*column), column->words);
    if (wanted(*column)) table.codes.push_back(*std::move(column));
  }
  const bool pictured = !in.next_name().empty();
  if (kind_of(audited, pictured).version != in.version() || (rows == 0 && (audited || pictured))) {
    in.fail("its columns do not match its version");
  }
  return pictured;
}

Fingerprints parse(ColumnFileReader in, const std::string& where, const ColumnNames* columns) {
  const WantedColumns wanted(columns);
  Fingerprints table;
  if (take_columns(in, wanted, table)) {
    if (wanted(kThumbnails)) {
      table.thumbnails = take_thumbnails(in).rows(0, in.rows());
    } else {
      in.skip<std::uint32_t>(offsets_of(kThumbnails.name), in.rows() + 1);
      in.skip_apart<ThumbnailBlock>();
    }
    in.finish();
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

CodeColumn empty_codes(std::string hash, std::uint32_t version, int bits) {
  const std::optional<HashName> name = parse_hash_name(hash);
  return {std::move(hash), version, bits, {}, name ? name->orientations : 1};
}

std::uint32_t ragged_offset(std::uint64_t values) {
  if (values > kMostValues) throw UsageError(kTooMany);
  return static_cast<std::uint32_t>(values);
}

Fingerprints select_columns(const Fingerprints& table, const ColumnNames& columns) {
  const WantedColumns wanted(&columns);
  Fingerprints out;
  for_each_column([&](const auto& field) {
    if (wanted(field)) out.*field.column = table.*field.column;
  });
  std::ranges::copy_if(table.codes, std::back_inserter(out.codes), wanted);
  return out;
}

Fingerprints select_rows(const Fingerprints& table, const std::vector<bool>& keep) {
  Fingerprints out;
  for_each_column(
      [&](const auto& field) { out.*field.column = marked(table.*field.column, keep); });
  out.codes = without_codes(table.codes);
  for (std::size_t i = 0; i < out.codes.size(); ++i) {
    out.codes[i].words = marked(table.codes[i].words, keep, out.codes[i].words_per_code());
  }
  return out;
}

void append_rows(Fingerprints& table, const Fingerprints& rows) {
  if (!same_hashes(table.codes, rows.codes)) throw UsageError(kOtherHashes);
  for_each_column([&](const auto& field) { append(table.*field.column, rows.*field.column); });
  drop_partial(table);
  for (std::size_t i = 0; i < rows.codes.size(); ++i) {
    append(table.codes[i].words, rows.codes[i].words);
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
  Fingerprints out;
  for_each_column([&](const auto& field) {
    put_in_order(
        out.*field.column, tables,
        order, [&](const Fingerprints& of) -> auto& { return of.*field.column; });
  });
  drop_partial(out);
  out.codes = without_codes(tables.front().codes);
  for (std::size_t i = 0; i < out.codes.size(); ++i) {
    const auto words = [i](const Fingerprints& of) -> auto& { return of.codes.at(i).words; };
    put_in_order(out.codes[i].words, tables, order, words, out.codes[i].words_per_code());
  }
  return out;
}

void check_table(const Fingerprints& table, const std::string& where, const ColumnNames* columns) {
  const Checker check{where, table.size()};
  const WantedColumns wanted(columns);
  check.require(table.size() <= kMostFingerprints, "it has too many rows");
  check.require(std::ranges::adjacent_find(table.ids, std::greater_equal<>()) == table.ids.end(),
                "its ids do not ascend");
  for_each_column([&](const auto& field) {
    if (wanted(field)) check.column(table.*field.column, field.name);
  });
  if (wanted(kThumbnails)) check_thumbnails(table, check);
  for (const CodeColumn& column : table.codes) {
    if (!wanted(column)) continue;
    const std::optional<HashName> name = parse_hash_name(column.hash);
    check.require(name && is_plain(*name) && table.find_codes(column.hash) == &column,
                  "a hash has a bad name or is there twice");
    check.require(name->orientations == column.orientations,
                  "the codes of '" + column.hash + "' are not of the orientations it says");
    check.require(column.bits > 0 && column.bits % (64 * column.orientations) == 0 &&
                      column.words.size() % column.words_per_code() == 0,
                  "the codes of '" + column.hash + "' are not whole words");
    check.size(column.words.size() / column.words_per_code(), column.hash);
  }
}

Bytes serialize(const Fingerprints& table) {
  check_table(table, "the table to be written");
  const std::vector<std::uint64_t> hashes = apart_hashes(as_bytes(table.thumbnails.values));
  return column_file(kind_of(!table.audit.empty(), is_pictured(table)), table.size(),
                     columns_of(table, hashes));
}

Fingerprints parse_fingerprints(BytesView bytes, const std::string& where) {
  return parse(ColumnFileReader(bytes, kFingerprintFile, where), where, nullptr);
}

Fingerprints read_fingerprints(const InputFile& file, const ColumnNames* columns) {
  return parse(ColumnFileReader(file, kFingerprintFile, ColumnFileReader::Content::kVouchedFor),
               file.path().string(), columns);
}

ThumbnailSource open_thumbnails(std::shared_ptr<const InputFile> file) {
  ColumnFileReader in(*file, kFingerprintFile, ColumnFileReader::Content::kVouchedFor);
  const ColumnNames sizes{"widths_px", "heights_px"};
  Fingerprints table;
  if (!take_columns(in, WantedColumns(&sizes), table)) return {};
  auto thumbnails = std::make_shared<const Thumbnails>(take_thumbnails(in));
  in.finish();
  check_table(table, file->path().string(), &sizes);
  check_sizes(table, thumbnails->offsets, {file->path().string(), table.size()});
  return [file = std::move(file), thumbnails = std::move(thumbnails)](
             std::size_t first, std::size_t count) { return thumbnails->rows(first, count); };
}

std::uint64_t thumbnail_bytes(const InputFile& file) {
  ColumnFileReader in(file, kFingerprintFile, ColumnFileReader::Content::kVouchedFor);
  const std::string offsets = offsets_of(kThumbnails.name);
  while (!in.next_name().empty() && in.next_name() != offsets) in.pass();
  if (in.next_name().empty()) return 0;
  in.pass();
  return in.skip_apart<ThumbnailBlock>() * sizeof(ThumbnailBlock);
}

Hash128 hash_of_table(const InputFile& file) { return hash_of(file, kFingerprintFile); }

Hash128 write_rows(const std::filesystem::path& path, const ColumnSource& columns,
                   const std::vector<std::string>& hashes, const std::vector<bool>& keep,
                   const ThumbnailSource& thumbnails) {
  const ColumnSource kept = [&](const ColumnNames& names) {
    return select_rows(columns(names), keep);
  };
  Fingerprints like;
  for (const std::string& hash : hashes) {
    for (CodeColumn& codes : without_codes(kept({std::string(kCodesPrefix) + hash}).codes)) {
      like.codes.push_back(std::move(codes));
    }
  }
  const ThumbnailSource kept_thumbnails = select_rows(thumbnails, keep);
  FingerprintWriter writer(path, like, FingerprintWriter::size_of(kept, kept_thumbnails));
  writer.append(kept, kept_thumbnails);
  return writer.finish();
}

TableSize& TableSize::operator+=(const TableSize& more) {
  rows += more.rows;
  labels += more.labels;
  group_bytes += more.group_bytes;
  audited += more.audited;
  pictured += more.pictured;
  thumbnail_blocks += more.thumbnail_blocks;
  return *this;
}

TableSize FingerprintWriter::size_of(const Fingerprints& table) noexcept {
  return {table.size(),       table.labels.values.size(), table.group_keys.values.size(),
          table.audit.size(), table.thumbnails.size(),    table.thumbnails.values.size()};
}

TableSize FingerprintWriter::size_of(const ColumnSource& table, const ThumbnailSource& thumbnails) {
  TableSize size{.rows = table({}).size()};
  for_each_field([&]<class F>(const F& field) {
    if constexpr (is_ragged<F>) {
      size.*field.values = (table({std::string(field.name)}).*field.column).values.size();
    } else if constexpr (is_optional<F>) {
      size.*field.rows = (table({std::string(field.name)}).*field.column).size();
    }
  });
  if (thumbnails) {
    const Fingerprints sizes = table({"widths_px", "heights_px"});
    size.pictured = size.rows;
    for (std::size_t row = 0; row < sizes.size(); ++row) {
      size.thumbnail_blocks += thumbnail_blocks(thumbnail_size_of(sizes, row));
    }
  }
  return size;
}

FingerprintWriter::FingerprintWriter(std::filesystem::path path, const Fingerprints& like,
                                     const Size& size)
    : hashes_(without_codes(like.codes)),
      file_(std::move(path), kind_of(has(size, kAudit), has(size, kThumbnails)), size.rows,
            shapes_of(like, size)),
      size_(size) {
  std::size_t place = 0;
  for_each_field([&]<class F>(const F& field) {
    if (!has(size, field)) return;
    const std::uint32_t zero = 0;  // row offsets start with it
    if constexpr (is_ragged<F>) file_.append(place++, std::as_bytes(std::span(&zero, 1)));
    ++place;
  });
  thumbnails_at_ = place + hashes_.size();
  const std::uint32_t zero = 0;
  if (has(size, kThumbnails)) file_.append(thumbnails_at_, std::as_bytes(std::span(&zero, 1)));
}

void FingerprintWriter::append_thumbnails(const Ragged<ThumbnailBlock>& rows) {
  file_.append(thumbnails_at_, as_bytes(offsets_behind(done_.thumbnail_blocks, rows)));
  file_.append(thumbnails_at_ + 2, as_bytes(rows.values));
  done_.thumbnail_blocks += rows.values.size();
}

void FingerprintWriter::append(const Fingerprints& rows) {
  if (rows.size() == 0) return;
  check_table(rows, "the rows to be written");
  if (done_.rows > 0 && rows.ids.front() <= last_id_) {
    throw UsageError("cannot append fingerprints from id " + std::to_string(rows.ids.front()) +
                     " to a table that ends at id " + std::to_string(last_id_) +
                     "; append tables in the order of their ids");
  }
  if (!same_hashes(hashes_, rows.codes)) throw UsageError(kOtherHashes);
  std::size_t place = 0;
  for_each_field([&](const auto& field) {
    if (has(size_, field)) append_field(file_, place, field, rows, done_);
  });
  for (const CodeColumn& codes : rows.codes) file_.append(place++, as_bytes(codes.words));
  if (has(size_, kThumbnails)) append_thumbnails(rows.thumbnails);
  done_.rows += rows.size();
  last_id_ = rows.ids.back();
}

void FingerprintWriter::append(const ColumnSource& table, const ThumbnailSource& thumbnails) {
  if (done_.rows > 0) throw UsageError("a whole table can only be appended to an empty table");
  const auto read = [&](std::string name) { return table({std::move(name)}); };
  if (const Fingerprints rows = table({}); rows.size() > 0) {
    done_.rows = rows.size();
    last_id_ = rows.ids.back();
  }
  if (done_.rows == 0) return;
  std::size_t place = 0;
  for_each_field([&](const auto& field) {
    if (!has(size_, field)) return;
    append_field(file_, place, field, read(std::string(field.name)), done_);
  });
  for (const CodeColumn& hash : hashes_) {
    const Fingerprints rows = read(codes_name(hash));
    if (!same_hashes(rows.codes, {hash})) throw UsageError(kOtherHashes);
    file_.append(place++, as_bytes(rows.codes.front().words));
  }
  if (!has(size_, kThumbnails)) return;
  for (std::size_t row = 0; row < done_.rows; row += kRowsOfBlock) {
    append_thumbnails(thumbnails(row, std::min<std::size_t>(kRowsOfBlock, done_.rows - row)));
  }
}

Hash128 FingerprintWriter::finish() { return file_.finish(); }

}  // namespace winnow::dedup
