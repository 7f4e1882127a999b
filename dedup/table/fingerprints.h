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

// Codes of one perceptual hash for all rows of a table; bits / 64 words a row.
//
// Bit order     Bit i of a code is bit (63 - i % 64) of word i / 64. Written as hex, words in
//               order, a code reads as imagehash and imagededup print it.
// Version       Name and version of the hash are stored with its codes. Columns of different
//               versions are never compared.
// Orientations  A hash of several orientations (hash_name.h) has one code for each of them in a
//               row. The distance of two rows is then that of the nearest codes; see
//               code_distance() in search.h.
struct CodeColumn {
  static constexpr int kMostBetween = 2000;  // maximum value of `between`

  std::string hash;           // the hash's name as in hash_name.h: "phash", "pdq_dihedral@1/8"
  std::uint32_t version = 0;  // version of the hash, raised by any change of its codes
  int bits = 64;              // in a row
  std::vector<std::uint64_t> words;
  int orientations = 1;  // as in the name
  // Gives the distance of two rows in place of the number of differing bits. Equal words then only
  // mean that rows are equal. Empty: differing bits are counted.
  std::function<std::uint32_t(std::uint32_t, std::uint32_t)> between = {};

  std::size_t words_per_code() const noexcept { return static_cast<std::size_t>(bits) / 64; }
  // The largest possible distance of two rows.
  int most_distance() const noexcept { return between ? kMostBetween : bits / orientations; }
  std::span<const std::uint64_t> code(std::size_t row) const noexcept {
    return std::span(words).subspan(row * words_per_code(), words_per_code());
  }
};

// A column without rows. The number of orientations is taken from the hash's name (1 if that is no
// valid name).
CodeColumn empty_codes(std::string hash, std::uint32_t version, int bits);

// Checks that the end offset of this many values fits into 32 bits, and returns it. Throws
// UsageError if not.
std::uint32_t ragged_offset(std::uint64_t values);

// Rows of variable length in one array: row i is values[offsets[i]] up to, but without,
// values[offsets[i + 1]].
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

// A table of fingerprints: everything that deduplication knows about the readable images. One array
// a column, rows in ascending id order.
struct Fingerprints {
  std::vector<SampleId> ids;
  std::vector<Split> splits;
  Ragged<std::int32_t> labels;  // none, one or many a row, as used in training
  Ragged<char> group_keys;  // text of the group key of each row; stored as "groups"; empty: none
  std::vector<std::uint32_t> widths_px;
  std::vector<std::uint32_t> heights_px;
  std::vector<std::uint64_t> file_bytes;  // size of the encoded input file in bytes
  // XXH3-128 of the encoded input file, or of the pixels if there was no file.
  std::vector<Hash128> file_hashes;
  std::vector<Hash128> pixel_hashes;  // XXH3-128 of height, width, channels (u32 each) and pixels
  std::vector<float> sharpness;       // see features.h
  std::vector<float> quality;         // amount of detail, 0..100; 0: too little to match on
  std::vector<Measures> audit;        // measures of pixels, of all rows or of none (older tables)
  std::vector<CodeColumn> codes;
  // Thumbnails of size thumbnail_size(width, height), in blocks; of all rows or of none. Twenty
  // times as large as all other columns together, so usually read by a ThumbnailSource.
  Ragged<ThumbnailBlock> thumbnails;

  std::size_t size() const noexcept { return ids.size(); }
  // The codes of this hash; nullptr if there are none.
  const CodeColumn* find_codes(std::string_view hash) const noexcept;
};

// Number of rows of a table, and of values in its columns of variable size.
struct TableSize {
  std::uint64_t rows = 0;
  std::uint64_t labels = 0;       // values
  std::uint64_t group_bytes = 0;  // values
  std::uint64_t audited = 0;      // rows with measures
  std::uint64_t pictured = 0;     // rows with thumbnails
  std::uint64_t thumbnail_blocks = 0;

  TableSize& operator+=(const TableSize& more);
};

// Descriptions of the columns of a table. Field: one value a row. RaggedField: any number of values
// a row, stored as two columns.
template <class T>
struct Field {
  std::string_view name;  // in the file
  std::vector<T> Fingerprints::*column;
  bool always = false;  // whether the column is read whenever any columns are
};
template <class T>
Field(std::string_view, std::vector<T> Fingerprints::*, bool = false) -> Field<T>;
// Describes a column that a table has for all its rows or for none.
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
  std::string_view name;  // name in the file, to which ":offsets" and ":values" are appended
  Ragged<T> Fingerprints::*column;
  std::uint64_t TableSize::*values;
  bool always = false;
};
template <class T>
RaggedField(std::string_view, Ragged<T> Fingerprints::*, std::uint64_t TableSize::*)
    -> RaggedField<T>;

// Describes a column with any number of values a row, for all rows or for none.
template <class T>
struct OptionalRaggedField {
  std::string_view name;  // name in the file; its parts end in ":offsets", ":hashes", ":values"
  Ragged<T> Fingerprints::*column;
  std::uint64_t TableSize::*rows;
  std::uint64_t TableSize::*values;
  bool always = false;
};
template <class T>
OptionalRaggedField(std::string_view, Ragged<T> Fingerprints::*, std::uint64_t TableSize::*,
                    std::uint64_t TableSize::*) -> OptionalRaggedField<T>;

// All columns of a table except codes and thumbnails, in the order of the file.
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
// The column of thumbnails comes after the codes. It is a column apart: large, only read on
// request.
inline constexpr OptionalRaggedField kThumbnails{
    "thumbnails", &Fingerprints::thumbnails, &TableSize::pictured, &TableSize::thumbnail_blocks};

// Names of columns to read, as in the file. A column of variable-length rows has one name;
// "codes:phash" is codes of any version. Columns that are always read need not be named.
using ColumnNames = std::set<std::string, std::less<>>;
// Names of columns that can be requested, besides codes and thumbnails.
inline constexpr auto kColumns = [] {
  std::array<std::string_view, std::tuple_size_v<decltype(kFields)> - 2> names;
  std::size_t count = 0;
  for_each_field([&](const auto& field) {
    if (!field.always) names.at(count++) = field.name;
  });
  return names;
}();

// Supplies the requested columns of a table; the other columns of the result are empty.
using ColumnSource = std::function<Fingerprints(const ColumnNames&)>;
Fingerprints select_columns(const Fingerprints& table, const ColumnNames& columns);

// Supplies the thumbnails of rows [first, first + count) of a table; these must exist. An empty
// function: the table has no thumbnails. Thread-safe.
using ThumbnailSource = std::function<Ragged<ThumbnailBlock>(std::size_t first, std::size_t count)>;

// A table of the rows that are marked in `keep` (one entry a row), with the columns of `table`.
Fingerprints select_rows(const Fingerprints& table, const std::vector<bool>& keep);

// Appends rows to a table with the same columns. Measures and thumbnails are dropped unless both
// have them. Throws UsageError if a table cannot hold so many labels.
void append_rows(Fingerprints& table, const Fingerprints& rows);

// One table of the rows of all tables, in id order. All tables have the same columns. Measures and
// thumbnails are dropped unless all tables have them.
Fingerprints merge(std::span<const Fingerprints> tables);

// Throws FormatError naming `where` unless the columns form a valid table:
// - one entry a row in each column, and fewer than 2^32 rows
// - ids ascend, offsets are in order
// - sharpness and quality are numbers
// - every hash occurs once, and its codes have whole words
// - thumbnails have the sizes of thumbnail_size()
// columns  Only these must be there; nullptr: all.
void check_table(const Fingerprints& table, const std::string& where,
                 const ColumnNames* columns = nullptr);

// The bytes of a table's file (docs/formats/fingerprints.md): magic, version, column directory,
// columns, XXH3-64. Version 3 with thumbnails, else 2 with measures, else 1. Equal tables give
// equal bytes. Errors as check_table().
Bytes serialize(const Fingerprints& table);

// Decodes the bytes of serialize(). Throws FormatError naming `where` for anything that it cannot
// have written: wrong checksum or sizes, ids that do not ascend, a newer version (which the message
// names).
Fingerprints parse_fingerprints(BytesView bytes, const std::string& where);
// Reads a table from a file whose content has been checked by a hash of the whole file.
// columns  Only these are read, the others stay empty; nullptr: all.
Fingerprints read_fingerprints(const InputFile& file, const ColumnNames* columns);
// The thumbnails of a table's file, whose content has been checked by its hash. They are read and
// checked on request; FormatError names the file. Memory: 4 bytes a row.
ThumbnailSource open_thumbnails(std::shared_ptr<const InputFile> file);
// Size of the thumbnails in a table's file, in bytes. Only reads the column directory.
std::uint64_t thumbnail_bytes(const InputFile& file);
// The hash that identifies a table's file: XXH3-128 of its bytes without the thumbnails, which have
// hashes of their own. The file is not checked to be a table.
Hash128 hash_of_table(const InputFile& file);

// Writes a table's file with the rows marked in `keep` (one entry a row): the same bytes as for a
// table of these rows alone. Durable.
// Memory   A few columns at once; some are read twice.
// hashes   Names of the columns of codes, in order.
// Returns  hash_of_table() of the file.
Hash128 write_rows(const std::filesystem::path& path, const ColumnSource& columns,
                   const std::vector<std::string>& hashes, const std::vector<bool>& keep,
                   const ThumbnailSource& thumbnails = {});

// Writes the file of a table whose rows arrive in any number of pieces.
class FingerprintWriter {
 public:
  using Size = TableSize;
  static Size size_of(const Fingerprints& table) noexcept;
  static Size size_of(const ColumnSource& table, const ThumbnailSource& thumbnails = {});

  // `size`: of the whole table. `like`: a table with the same hashes. Throws UsageError if `size`
  // is more than a table can hold.
  FingerprintWriter(std::filesystem::path path, const Fingerprints& like, const Size& size);
  // Appends rows. Throws UsageError unless their ids are larger than all before and they have the
  // same hashes (name, version, bits, order).
  void append(const Fingerprints& rows);
  // Appends all rows of a table, one column at a time, to save memory. Only as the first append.
  void append(const ColumnSource& table, const ThumbnailSource& thumbnails = {});
  Hash128 finish();  // Returns hash_of_table() of the file, which is then durable.

 private:
  void append_thumbnails(const Ragged<ThumbnailBlock>& rows);

  std::vector<CodeColumn> hashes_;  // without codes
  ColumnFileWriter file_;
  Size size_;
  Size done_;
  std::size_t thumbnails_at_ = 0;  // number of the first column of the thumbnails
  SampleId last_id_ = 0;
};

}  // namespace winnow::dedup
