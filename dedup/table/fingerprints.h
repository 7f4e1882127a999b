#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "common/bytes.h"
#include "common/checksum.h"
#include "common/file.h"
#include "common/sample.h"
#include "dedup/audit/measures.h"
#include "dedup/hash/thumbnail.h"
#include "dedup/table/column_file.h"

namespace winnow::dedup {

// Codes of one perceptual hash, bits/64 words a row.
//
// Bit order     Bit i of a code is bit (63 - i % 64) of word i / 64. Written as hex, words in
//               order, a code reads as imagehash and imagededup print it.
// Version       Name and version travel with the codes. Columns of different versions are never
//               compared.
// Orientations  A hash of several (hash_name.h) has one code of each in a row. The distance of two
//               rows is then that of the nearest codes; see code_distance() in search.h.
struct CodeColumn {
  static constexpr int kMostBetween = 2000;  // maximum value of `between`

  std::string hash;           // a name as in hash_name.h: "phash", "pdq_dihedral@1/8"
  std::uint32_t version = 0;  // raised by any change that alters one bit for any image
  int bits = 64;              // in a row
  std::vector<std::uint64_t> words;
  int orientations = 1;  // as in the name
  // Replaces the bit distance when the words only show which rows are equal: the distance of two
  // rows.
  std::function<std::uint32_t(std::uint32_t, std::uint32_t)> between = {};

  std::size_t words_per_code() const noexcept { return static_cast<std::size_t>(bits) / 64; }
  // The largest possible distance of two rows.
  int most_distance() const noexcept { return between ? kMostBetween : bits / orientations; }
  std::span<const std::uint64_t> code(std::size_t row) const noexcept {
    return std::span(words).subspan(row * words_per_code(), words_per_code());
  }
};

// A column without rows, with the orientations in the name (1 if it is no valid name).
CodeColumn empty_codes(std::string hash, std::uint32_t version, int bits);

// The end offset of this many values. UsageError if it does not fit into 32 bits.
std::uint32_t ragged_offset(std::uint64_t values);

// Rows of variable length, in one array: row i is values[offsets[i], offsets[i+1]).
template <class T>
struct Ragged {
  std::vector<std::uint32_t> offsets{0};
  std::vector<T> values;

  std::size_t size() const noexcept { return offsets.size() - 1; }
  std::span<const T> operator[](std::size_t row) const noexcept {
    return std::span(values).subspan(offsets[row], offsets[row + 1] - offsets[row]);
  }
  void push_back(std::span<const T> row) {
    const std::uint32_t end = ragged_offset(values.size() + row.size());
    values.insert(values.end(), row.begin(), row.end());
    offsets.push_back(end);
  }
};

// Everything deduplication knows about the readable images: one array a column, rows in ascending
// id order.
struct Fingerprints {
  std::vector<SampleId> ids;
  std::vector<Split> splits;
  Ragged<std::int32_t> labels;  // training labels (see the manifest); none, one or many
  Ragged<char> group_keys;      // "groups" in the file; empty: none
  std::vector<std::uint32_t> widths_px;
  std::vector<std::uint32_t> heights_px;
  std::vector<std::uint64_t> file_bytes;  // size of the encoded input
  // XXH3-128 of the encoded input, or of the pixels if there was none.
  std::vector<Hash128> file_hashes;
  std::vector<Hash128> pixel_hashes;  // XXH3-128 of height, width, channels (u32 each) and pixels
  std::vector<float> sharpness;       // see features.h
  std::vector<float> quality;         // 0..100; 0: too little detail to match on
  std::vector<Measures> audit;        // for all rows or for none: older tables have none
  std::vector<CodeColumn> codes;
  // Thumbnails of thumbnail_size(width, height), in blocks; of all rows or of none. Twenty times as
  // large as all other columns together: see ThumbnailSource.
  Ragged<ThumbnailBlock> thumbnails;

  std::size_t size() const noexcept { return ids.size(); }
  // nullptr when there is no such column.
  const CodeColumn* find_codes(std::string_view hash) const noexcept;
};

// Sizes of the columns of a table.
struct TableSize {
  std::uint64_t rows = 0;
  std::uint64_t labels = 0;       // values
  std::uint64_t group_bytes = 0;  // values
  std::uint64_t audited = 0;      // rows with measures
  std::uint64_t pictured = 0;     // rows with thumbnails
  std::uint64_t thumbnail_blocks = 0;

  TableSize& operator+=(const TableSize& more);
};

// A column with one value a row (Field), and one with any number of values (RaggedField), stored as
// two columns.
template <class T>
struct Field {
  std::string_view name;  // in the file
  std::vector<T> Fingerprints::*column;
  bool always = false;  // always read with the rows
};
template <class T>
Field(std::string_view, std::vector<T> Fingerprints::*, bool = false) -> Field<T>;
// A column that a table has for all its rows or for none.
template <class T>
struct OptionalField {
  std::string_view name;  // in the file
  std::vector<T> Fingerprints::*column;
  std::uint64_t TableSize::*rows;
  bool always = false;
};
template <class T>
OptionalField(std::string_view, std::vector<T> Fingerprints::*, std::uint64_t TableSize::*)
    -> OptionalField<T>;
template <class T>
struct RaggedField {
  std::string_view name;  // in the file, with ":offsets" and ":values"
  Ragged<T> Fingerprints::*column;
  std::uint64_t TableSize::*values;
  bool always = false;
};
template <class T>
RaggedField(std::string_view, Ragged<T> Fingerprints::*, std::uint64_t TableSize::*)
    -> RaggedField<T>;

// A ragged column that is optional.
template <class T>
struct OptionalRaggedField {
  std::string_view name;  // in the file, with ":offsets", ":hashes" and ":values"
  Ragged<T> Fingerprints::*column;
  std::uint64_t TableSize::*rows;
  std::uint64_t TableSize::*values;
  bool always = false;
};
template <class T>
OptionalRaggedField(std::string_view, Ragged<T> Fingerprints::*, std::uint64_t TableSize::*,
                    std::uint64_t TableSize::*) -> OptionalRaggedField<T>;

// All columns but codes and thumbnails, in the order of the file.
inline constexpr OptionalField kAudit{"audit", &Fingerprints::audit, &TableSize::audited};
inline constexpr std::tuple kFields{
    Field{"ids", &Fingerprints::ids, true},
    Field{"splits", &Fingerprints::splits, true},
    RaggedField{"labels", &Fingerprints::labels, &TableSize::labels},
    RaggedField{"groups", &Fingerprints::group_keys, &TableSize::group_bytes},
    Field{"widths_px", &Fingerprints::widths_px},
    Field{"heights_px", &Fingerprints::heights_px},
    Field{"file_bytes", &Fingerprints::file_bytes},
    Field{"file_hashes", &Fingerprints::file_hashes},
    Field{"pixel_hashes", &Fingerprints::pixel_hashes},
    Field{"sharpness", &Fingerprints::sharpness},
    Field{"quality", &Fingerprints::quality},
    kAudit,
};
template <class Visit>
constexpr void for_each_field(const Visit& visit) {
  std::apply([&](const auto&... field) { (visit(field), ...); }, kFields);
}
// The thumbnails follow the codes, as a column apart (FileKind): they are only read on request.
inline constexpr OptionalRaggedField kThumbnails{
    "thumbnails", &Fingerprints::thumbnails, &TableSize::pictured, &TableSize::thumbnail_blocks};

// Columns by their names in the file. One name for both parts of a ragged column; "codes:phash" for
// codes of any version. Columns that are always read need not be named.
using ColumnNames = std::set<std::string, std::less<>>;
// Names that can be requested, besides codes and thumbnails.
inline constexpr auto kColumns = [] {
  std::array<std::string_view, std::tuple_size_v<decltype(kFields)> - 2> names;
  std::size_t count = 0;
  for_each_field([&](const auto& field) {
    if (!field.always) names.at(count++) = field.name;
  });
  return names;
}();

// Returns these columns of a table; the others are empty.
using ColumnSource = std::function<Fingerprints(const ColumnNames&)>;
Fingerprints select_columns(const Fingerprints& table, const ColumnNames& columns);

// Returns the thumbnails of rows [first, first + count) of a table, which must exist. Empty: the
// table has no thumbnails. Thread-safe.
using ThumbnailSource = std::function<Ragged<ThumbnailBlock>(std::size_t first, std::size_t count)>;

// The rows that `keep` marks (one entry a row), of the columns that are there.
Fingerprints select_rows(const Fingerprints& table, const std::vector<bool>& keep);

// Appends rows to a table with the same columns. Without measures or thumbnails if either has none.
// Throws UsageError if a table cannot hold so many labels.
void append_rows(Fingerprints& table, const Fingerprints& rows);

// The rows of all tables in id order. All tables have the same columns. Without measures or
// thumbnails if a table has none.
Fingerprints merge(std::span<const Fingerprints> tables);

// Throws FormatError naming `where` unless the columns make a table:
// - one entry a row each, and fewer than 2^32 rows
// - ids ascend, offsets are in order
// - sharpness and quality are numbers
// - every hash occurs once and has whole words
// - thumbnails have the sizes they should have
// columns  Only these need to be there; nullptr: all.
void check_table(const Fingerprints& table, const std::string& where,
                 const ColumnNames* columns = nullptr);

// The file form (docs/formats/fingerprints.md): magic, version, column directory, columns, XXH3-64.
// Version 3 with thumbnails, else 2 with measures, else 1. Equal tables give equal bytes.
// Throws as check_table().
Bytes serialize(const Fingerprints& table);

// Throws FormatError naming `where` for anything that serialize() cannot have written: wrong
// checksum or sizes, ids that do not ascend, a newer version (which it names).
Fingerprints parse_fingerprints(BytesView bytes, const std::string& where);
// Reads a file whose content has been checked by its hash. Only these columns are read (nullptr:
// all); the others stay empty.
Fingerprints read_fingerprints(const InputFile& file, const ColumnNames* columns);
// The thumbnails of such a file. They are read and checked on request; FormatError names the file.
// Holds 4 bytes a row.
ThumbnailSource open_thumbnails(std::shared_ptr<const InputFile> file);
// Size of a file's thumbnails in bytes. Only reads the directory.
std::uint64_t thumbnail_bytes(const InputFile& file);
// The hash that identifies a file (which need not be a table): XXH3-128 of its bytes without the
// thumbnails, which have hashes of their own.
Hash128 hash_of_table(const InputFile& file);

// Writes the rows that `keep` marks (one entry a row): the same bytes as a table of these rows
// alone.
// Holds a few columns at once and reads some of them twice.
// hashes  Names of the columns of codes, in order.
// Out     hash_of_table() of the file. Durable.
Hash128 write_rows(const std::filesystem::path& path, const ColumnSource& columns,
                   const std::vector<std::string>& hashes, const std::vector<bool>& keep,
                   const ThumbnailSource& thumbnails = {});

// Writes the file of a table that comes in any number of pieces.
class FingerprintWriter {
 public:
  using Size = TableSize;
  static Size size_of(const Fingerprints& table) noexcept;
  static Size size_of(const ColumnSource& table, const ThumbnailSource& thumbnails = {});

  // `size` is that of the whole table; `like` has its hashes. UsageError if it is more than a table
  // can hold.
  FingerprintWriter(std::filesystem::path path, const Fingerprints& like, const Size& size);
  // Appends rows. UsageError unless their ids are larger than those before and their hashes are the
  // same (name, version, bits, order).
  void append(const Fingerprints& rows);
  // Appends all rows of a table, one column at a time. Only as the first append.
  void append(const ColumnSource& table, const ThumbnailSource& thumbnails = {});
  Hash128 finish();  // Durable. Returns hash_of_table() of the file.

 private:
  void append_thumbnails(const Ragged<ThumbnailBlock>& rows);

  std::vector<CodeColumn> hashes_;  // without codes
  ColumnFileWriter file_;
  Size size_;
  Size done_;
  std::size_t thumbnails_at_ = 0;  // number of the first thumbnail column
  SampleId last_id_ = 0;
};

}  // namespace winnow::dedup
