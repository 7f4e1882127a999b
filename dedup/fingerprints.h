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
#include "dedup/column_file.h"
#include "dedup/hash/thumbnail.h"

namespace winnow::dedup {

// Codes of one perceptual hash, bits/64 words a row. Bit i of a code is bit (63 - i % 64) of word
// i / 64: written as hex, words in order, a code reads as imagehash and imagededup print it.
// Name and version travel with the codes; columns of different versions are never compared.
// A hash of several orientations (hash_name.h) has a code of each in a row: rows are then as far
// apart as the nearest of them, see code_distance() in search.h.
struct CodeColumn {
  static constexpr int kMostBetween = 2000;  // of `between`

  std::string hash;           // a name as of hash_name.h: "phash", "pdq_dihedral@1/8"
  std::uint32_t version = 0;  // raised by any change that alters one bit on any image
  int bits = 64;              // of a row
  std::vector<std::uint64_t> words;
  int orientations = 1;  // what the name says
  // In place of bits, where the words only say which rows are equal: how far apart two rows are.
  std::function<std::uint32_t(std::uint32_t, std::uint32_t)> between = {};

  std::size_t words_per_code() const noexcept { return static_cast<std::size_t>(bits) / 64; }
  // That two rows can be apart.
  int most_distance() const noexcept { return between ? kMostBetween : bits / orientations; }
  std::span<const std::uint64_t> code(std::size_t row) const noexcept {
    return std::span(words).subspan(row * words_per_code(), words_per_code());
  }
};

// A column without rows, in as many orientations as the name says; in 1 if it is no name.
CodeColumn empty_codes(std::string hash, std::uint32_t version, int bits);

// The offset behind so many values. UsageError for more than 32 bits can tell.
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

// What deduplication knows of every readable image, one array a column, rows in ascending id order.
struct Fingerprints {
  std::vector<SampleId> ids;
  std::vector<Split> splits;
  Ragged<std::int32_t> labels;  // training labels (see the manifest); none, one or many
  Ragged<char> group_keys;      // "groups" in the file; empty: none
  std::vector<std::uint32_t> widths_px;
  std::vector<std::uint32_t> heights_px;
  std::vector<std::uint64_t> file_bytes;  // of the encoded input
  std::vector<Hash128> file_hashes;  // XXH3-128 of the encoded input (of the pixels if it had none)
  std::vector<Hash128> pixel_hashes;  // XXH3-128 of height, width, channels (u32 each) and pixels
  std::vector<float> sharpness;       // see features.h
  std::vector<float> quality;         // 0..100; 0: too little in the picture to match on
  std::vector<Measures> audit;        // of all rows, or of none: older tables have none
  std::vector<CodeColumn> codes;
  // Of thumbnail_size(width, height) each, in its blocks; of all rows, or of none. Twenty times as
  // large as all others together: see ThumbnailSource.
  Ragged<ThumbnailBlock> thumbnails;

  std::size_t size() const noexcept { return ids.size(); }
  // nullptr when there is no such column.
  const CodeColumn* find_codes(std::string_view hash) const noexcept;
};

// How large the columns of a table are.
struct TableSize {
  std::uint64_t rows = 0;
  std::uint64_t labels = 0;       // values
  std::uint64_t group_bytes = 0;  // values
  std::uint64_t audited = 0;      // rows with measures
  std::uint64_t pictured = 0;     // rows with thumbnails
  std::uint64_t thumbnail_blocks = 0;

  TableSize& operator+=(const TableSize& more);
};

// A column of one value a row, and one of any number of them, which is two in the file.
template <class T>
struct Field {
  std::string_view name;  // in the file
  std::vector<T> Fingerprints::*column;
  bool always = false;  // rows never come without it
};
template <class T>
Field(std::string_view, std::vector<T> Fingerprints::*, bool = false) -> Field<T>;
// One that a table has of all its rows or does not have.
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

// One that is both.
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
// Behind the codes, a column apart (FileKind): who does not ask for it never reads it.
inline constexpr OptionalRaggedField kThumbnails{
    "thumbnails", &Fingerprints::thumbnails, &TableSize::pictured, &TableSize::thumbnail_blocks};

// Columns by their names in the file, one name for both parts of a ragged one, "codes:phash" for
// codes whatever their version. Those that are always there are always meant.
using ColumnNames = std::set<std::string, std::less<>>;
// What can be asked for beside codes and thumbnails.
inline constexpr auto kColumns = [] {
  std::array<std::string_view, std::tuple_size_v<decltype(kFields)> - 2> names;
  std::size_t count = 0;
  for_each_field([&](const auto& field) {
    if (!field.always) names.at(count++) = field.name;
  });
  return names;
}();

// Gives these columns of a table, the others empty.
using ColumnSource = std::function<Fingerprints(const ColumnNames&)>;
Fingerprints select_columns(const Fingerprints& table, const ColumnNames& columns);

// Gives the thumbnails of `count` rows of a table from row `first` on, which it has; the others
// stay where they are. Empty: the table has none. For any number of threads.
using ThumbnailSource = std::function<Ragged<ThumbnailBlock>(std::size_t first, std::size_t count)>;

// The rows that `keep`, one entry a row, marks, of the columns that are there.
Fingerprints select_rows(const Fingerprints& table, const std::vector<bool>& keep);

// Puts rows behind those of a table; both have the same columns. Where one has no measures, or no
// thumbnails, none has. UsageError where a table cannot hold so many labels.
void append_rows(Fingerprints& table, const Fingerprints& rows);

// The rows of all tables, in the order of their ids, of the columns that they have: the same ones.
// Without measures, or thumbnails, where one has none.
Fingerprints merge(std::span<const Fingerprints> tables);

// Throws FormatError naming `where` unless the columns make a table: one entry a row each, ids
// ascending, offsets in order, sharpness and quality numbers, every hash once with whole words,
// thumbnails of the sizes that they should have, fewer than 2^32 rows. `columns`: only these need
// be there; nullptr: all.
void check_table(const Fingerprints& table, const std::string& where,
                 const ColumnNames* columns = nullptr);

// The file form (docs/formats/fingerprints.md): magic, version, column directory, columns, XXH3-64.
// Of version 3 with thumbnails, else of 2 with measures, else of 1. Equal tables give equal bytes.
// Throws as check_table does.
Bytes serialize(const Fingerprints& table);

// Throws FormatError naming `where` for anything that serialize cannot have written: checksum,
// sizes, ids that do not ascend, a newer version (which it names).
Fingerprints parse_fingerprints(BytesView bytes, const std::string& where);
// The same from a file whose content is vouched for by its hash, and only some of its columns (the
// others stay empty); nullptr: all.
Fingerprints read_fingerprints(const InputFile& file, const ColumnNames* columns);
// Likewise of the thumbnails: they are read from the file when they are asked for, and checked
// then, by FormatError naming it. Holds 4 bytes a row.
ThumbnailSource open_thumbnails(std::shared_ptr<const InputFile> file);
// How many bytes a file has of them. Reads its directory alone.
std::uint64_t thumbnail_bytes(const InputFile& file);
// What vouches for a file, be it one or not: XXH3-128 of its bytes but for those of the thumbnails,
// which it has hashes of.
Hash128 hash_of_table(const InputFile& file);

// Writes the file of the rows that `keep`, one entry a row of the table, marks: the bytes of a
// table of these rows alone. Holds a few columns at once, and reads some of them twice. `hashes`:
// names of the columns of codes, in their order. Durable; hash_of_table() of the file.
Hash128 write_rows(const std::filesystem::path& path, const ColumnSource& columns,
                   const std::vector<std::string>& hashes, const std::vector<bool>& keep,
                   const ThumbnailSource& thumbnails = {});

// Writes the file of a table that is not held: its rows come in any number of pieces.
class FingerprintWriter {
 public:
  using Size = TableSize;
  static Size size_of(const Fingerprints& table) noexcept;
  static Size size_of(const ColumnSource& table, const ThumbnailSource& thumbnails = {});

  // Of the whole; `like` has its hashes. UsageError for more than a table can hold.
  FingerprintWriter(std::filesystem::path path, const Fingerprints& like, const Size& size);
  // Rows whose ids are larger than those before and whose hashes (name, version, bits, order) are
  // the same; else UsageError.
  void append(const Fingerprints& rows);
  // All rows of a table, a column at a time; before any others.
  void append(const ColumnSource& table, const ThumbnailSource& thumbnails = {});
  Hash128 finish();  // durable; hash_of_table() of the file

 private:
  void append_thumbnails(const Ragged<ThumbnailBlock>& rows);

  std::vector<CodeColumn> hashes_;  // without codes
  ColumnFileWriter file_;
  Size size_;
  Size done_;
  std::size_t thumbnails_at_ = 0;  // number of the first of their columns
  SampleId last_id_ = 0;
};

}  // namespace winnow::dedup
