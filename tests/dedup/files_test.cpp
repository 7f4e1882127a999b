// Fingerprint tables and selections on disk.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "common/checksum.h"
#include "common/error.h"
#include "common/file.h"
#include "dedup/table/fingerprints.h"
#include "dedup/table/selection.h"
#include "dedup/table/thumbnail_source.h"
#include "tests/common/temporary_folder.h"
#include "tests/dedup/tables.h"

namespace winnow::dedup::files_test {

using testing::HasSubstr;

// Odd counts everywhere, so every column needs padding. Rows have none, one or many labels.
Fingerprints small_table(std::size_t rows = 3) {
  CounterRng rng = test_rng(1);
  std::vector<TestImage> images;
  for (std::size_t i = 0; i < rows; ++i) {
    std::vector<std::int32_t> labels(i % 3, static_cast<std::int32_t>(i) - 1);
    images.push_back({.id = make_sample_id(1, 5 * i + 1),
                      .split = static_cast<Split>(i % 4),
                      .labels = labels,
                      .code = rng.next_u64(),
                      .file = i,
                      .pixels = 100 + i});
  }
  Fingerprints table = make_table(images);
  table.group_keys = {};
  for (std::size_t i = 0; i < rows; ++i) {
    const std::string key = i % 2 == 0 ? "case " + std::to_string(i) : "";
    table.group_keys.push_back(std::span<const char>(key));
  }
  CodeColumn wide{"dhash-128", 7, 128, {}};
  for (std::size_t i = 0; i < 2 * rows; ++i) wide.words.push_back(rng.next_u64());
  table.codes.push_back(wide);
  return table;
}

Fingerprints audited(Fingerprints table) {
  for (std::size_t row = 0; row < table.size(); ++row) {
    table.audit.push_back({.entropy = static_cast<float>(row), .orientation = 3});
  }
  return table;
}

// Varies the widths, so that thumbnails have one to many blocks.
Fingerprints pictured(Fingerprints table) {
  for (std::size_t row = 0; row < table.size(); ++row) {
    table.widths_px[row] = static_cast<std::uint32_t>(1 + row * row * row);
    table.heights_px[row] = static_cast<std::uint32_t>(1 + row);
    const ThumbnailSize size = thumbnail_size(table.widths_px[row], table.heights_px[row]);
    CounterRng rng = test_rng(row);
    Image image(size.height_px, size.width_px, 1);
    for (auto& pixel : image.pixels) pixel = static_cast<std::uint8_t>(rng.next_u32() >> 24);
    table.thumbnails.push_back(to_blocks(image));
  }
  return table;
}

ThumbnailSource thumbnails_of(const Fingerprints& table) {
  return [&table](std::size_t first, std::size_t count) {
    Ragged<ThumbnailBlock> rows;
    for (std::size_t row = first; row < first + count; ++row) {
      rows.push_back(table.thumbnails[row]);
    }
    return rows;
  };
}

Selection small_selection() {
  Selection selection;
  selection.name = "strict";
  selection.mode = SelectionMode::kWeight;
  selection.settings = R"({"hash":"phash"})";
  selection.cache_digest = "0123456789abcdef";
  selection.ids = {1, 4, 9};
  selection.weights = {1, 0, 0.5F};
  selection.components = {0, 0, 1};
  selection.kept = {1, 1, 9};
  selection.distances = {0, 3, 0};
  selection.rules = {Rule::kKept, Rule::kDuplicate, Rule::kKept};
  return selection;
}

Selection moved_selection() {
  Selection selection = small_selection();
  selection.rules[2] = Rule::kMoved;
  selection.splits = {Split::kTrain, Split::kNone, Split::kTest};
  return selection;
}

Selection with_issue(Selection selection) {
  selection.rules[1] = Rule::kIssue;
  return selection;
}

Selection reviewed(Selection selection) {
  selection.weights[0] = 0;
  selection.rules[0] = Rule::kReview;
  return selection;
}

// Writes a valid checksum behind modified bytes. It does not cover the last `apart` bytes.
void seal(Bytes& bytes, std::size_t apart = 0) {
  if (bytes.size() < 8 + apart) return;
  const std::uint64_t sum = xxh3_64(BytesView(bytes).first(bytes.size() - 8 - apart));
  std::memcpy(bytes.data() + bytes.size() - 8, &sum, 8);
}

template <class T>
struct Form {
  const char* what;
  T (*make)();
  T (*parse)(BytesView bytes, const std::string& where);
  int newest;             // newest version that is read
  std::size_t apart = 0;  // bytes that the checksum does not cover
};

template <class T>
void check_form(const Form<T>& form) {
  SCOPED_TRACE(form.what);
  const Bytes bytes = serialize(form.make());
  ASSERT_EQ(serialize(form.parse(bytes, "file")), bytes);
  EXPECT_EQ(bytes.size() % 8, 0U);

  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    Bytes part(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(cut));
    EXPECT_THROW(form.parse(part, "file"), FormatError) << "cut to " << cut;
    seal(part);
    EXPECT_THROW(form.parse(part, "file"), FormatError) << "cut to " << cut << " and sealed";
    seal(part, form.apart);
    EXPECT_THROW(form.parse(part, "file"), FormatError) << "cut to " << cut << " and sealed";
  }
  Bytes longer = bytes;
  longer.resize(bytes.size() + 8);
  EXPECT_THROW(form.parse(longer, "file"), FormatError);
  seal(longer, form.apart);
  EXPECT_THROW(form.parse(longer, "file"), FormatError);

  std::size_t refused = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const unsigned flip : {0x01U, 0x80U, 0xFFU}) {
      Bytes bad = bytes;
      bad[at] ^= static_cast<std::byte>(flip);
      EXPECT_THROW(form.parse(bad, "file"), FormatError) << "byte " << at;
      // With a valid checksum, a changed byte may be another valid value. Then the file must be
      // exactly what serialize writes for that value.
      if (at >= bytes.size() - 8) continue;
      seal(bad, form.apart);
      try {
        EXPECT_EQ(serialize(form.parse(bad, "file")), bad) << "byte " << at;
      } catch (const FormatError& error) {
        EXPECT_THAT(error.what(), HasSubstr("file"));
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, bytes.size()) << "header, directory and padding alone are more than a third";

  Bytes newer = bytes;
  newer[8] = static_cast<std::byte>(form.newest + 1);
  try {
    form.parse(newer, "some/file");
    FAIL() << "read a newer version";
  } catch (const FormatError& error) {
    EXPECT_THAT(error.what(), HasSubstr("some/file"));
    EXPECT_THAT(error.what(),
                HasSubstr("version " + std::to_string(form.newest + 1) +
                          " and this build reads version " + std::to_string(form.newest)));
  }
}

TEST(FingerprintFile, IsReadBackOrRefused) {
  check_form<Fingerprints>({"three rows", [] { return small_table(); }, parse_fingerprints, 3});
  check_form<Fingerprints>(
      {"measured", [] { return audited(small_table()); }, parse_fingerprints, 3});
  check_form<Fingerprints>({"no rows", [] { return Fingerprints(); }, parse_fingerprints, 3});
  // Thumbnails of 1, 4 and 27 pixels: three blocks in total.
  check_form<Fingerprints>({"pictured", [] { return pictured(small_table()); }, parse_fingerprints,
                            3, 3 * sizeof(ThumbnailBlock)});
  check_form<Fingerprints>({"both", [] { return pictured(audited(small_table())); },
                            parse_fingerprints, 3, 3 * sizeof(ThumbnailBlock)});
}

TEST(SelectionFile, IsReadBackOrRefused) {
  check_form<Selection>({"selection", small_selection, parse_selection, 4});
  check_form<Selection>({"with splits", moved_selection, parse_selection, 4});
  check_form<Selection>(
      {"with issues", [] { return with_issue(small_selection()); }, parse_selection, 4});
  check_form<Selection>(
      {"with both", [] { return with_issue(moved_selection()); }, parse_selection, 4});
  check_form<Selection>({"with a review", [] { return reviewed(with_issue(moved_selection())); },
                         parse_selection, 4});
  check_form<Selection>({"nothing", [] { return Selection(); }, parse_selection, 4});
}

TEST(FingerprintFile, HoldsEveryColumn) {
  const Fingerprints table = small_table(50);
  const Fingerprints back = parse_fingerprints(serialize(table), "file");
  EXPECT_EQ(back.ids, table.ids);
  EXPECT_EQ(back.splits, table.splits);
  EXPECT_EQ(back.labels.offsets, table.labels.offsets);
  EXPECT_EQ(back.labels.values, table.labels.values);
  EXPECT_EQ(back.group_keys.offsets, table.group_keys.offsets);
  EXPECT_EQ(back.group_keys.values, table.group_keys.values);
  EXPECT_EQ(back.widths_px, table.widths_px);
  EXPECT_EQ(back.heights_px, table.heights_px);
  EXPECT_EQ(back.file_bytes, table.file_bytes);
  EXPECT_EQ(back.file_hashes, table.file_hashes);
  EXPECT_EQ(back.pixel_hashes, table.pixel_hashes);
  EXPECT_EQ(back.sharpness, table.sharpness);
  EXPECT_EQ(back.quality, table.quality);
  ASSERT_EQ(back.codes.size(), 2U);
  const CodeColumn* wide = back.find_codes("dhash-128");
  ASSERT_NE(wide, nullptr);
  EXPECT_EQ(wide->version, 7U);
  EXPECT_EQ(wide->bits, 128);
  EXPECT_EQ(wide->words, table.codes[1].words);
  EXPECT_EQ(back.find_codes("whash"), nullptr);
}

TEST(SelectionFile, HoldsEveryColumn) {
  const Selection selection = moved_selection();
  const Selection back = parse_selection(serialize(selection), "file");
  EXPECT_EQ(back.name, selection.name);
  EXPECT_EQ(back.mode, selection.mode);
  EXPECT_EQ(back.settings, selection.settings);
  EXPECT_EQ(back.cache_digest, selection.cache_digest);
  EXPECT_EQ(back.ids, selection.ids);
  EXPECT_EQ(back.weights, selection.weights);
  EXPECT_EQ(back.components, selection.components);
  EXPECT_EQ(back.kept, selection.kept);
  EXPECT_EQ(back.distances, selection.distances);
  EXPECT_EQ(back.rules, selection.rules);
  EXPECT_EQ(back.splits, selection.splits);
  EXPECT_EQ(back.split_of(2, Split::kTrain), Split::kTest);
  EXPECT_EQ(small_selection().split_of(2, Split::kTrain), Split::kTrain);
}

TEST(KeepAll, IsASelectionOfEachForItself) {
  const std::vector<SampleId> ids{3, 7, 1000};
  const Selection selection = keep_all(ids);
  EXPECT_NO_THROW(check_selection(selection, "test"));
  EXPECT_EQ(selection.ids, ids);
  EXPECT_EQ(selection.kept, ids);
  EXPECT_EQ(selection.weights, std::vector<float>(3, 1));
  EXPECT_EQ(selection.components, (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(selection.rules, std::vector(3, Rule::kKept));
  EXPECT_EQ(selection.split_of(1, Split::kTest), Split::kTest);
  EXPECT_EQ(parse_selection(serialize(selection), "file"), selection);
  EXPECT_EQ(keep_all({}), Selection());
}

// The first bytes of both files, as documented in the formats: they never change.
TEST(FingerprintFile, BeginsAsItsDocumentSays) {
  const Bytes bytes = serialize(small_table());
  ByteReader in(bytes, "file");
  EXPECT_EQ(in.get_text(8), "WNWFPRNT");
  EXPECT_EQ(in.get<std::uint32_t>(), 1U);
  const auto columns = in.get<std::uint32_t>();
  EXPECT_EQ(columns, 15U);
  EXPECT_EQ(in.get<std::uint64_t>(), 3U);
  EXPECT_STREQ(in.get_text(40).c_str(), "ids");
  EXPECT_EQ(in.get<std::uint32_t>(), 8U);
  EXPECT_EQ(in.get<std::uint32_t>(), 0U);
  EXPECT_EQ(in.get<std::uint64_t>(), 3U);
  const auto offset = in.get<std::uint64_t>();
  EXPECT_EQ(offset, 24U + 64U * columns);
  ByteReader ids(BytesView(bytes).subspan(offset), "file");
  EXPECT_EQ(ids.get<std::uint64_t>(), make_sample_id(1, 1));
  in.get_bytes(64 * 12);
  EXPECT_STREQ(in.get_text(40).c_str(), "codes:phash:1:64");
  in.get_bytes(24);
  EXPECT_STREQ(in.get_text(40).c_str(), "codes:dhash-128:7:128");
}

TEST(SelectionFile, BeginsAsItsDocumentSays) {
  const Bytes bytes = serialize(small_selection());
  ByteReader in(bytes, "file");
  EXPECT_EQ(in.get_text(8), "WNWSELCT");
  EXPECT_EQ(in.get<std::uint32_t>(), 1U);
  EXPECT_EQ(in.get<std::uint32_t>(), 10U);
  EXPECT_EQ(in.get<std::uint64_t>(), 3U);
  EXPECT_STREQ(in.get_text(40).c_str(), "name");

  const Bytes with_splits = serialize(moved_selection());
  ByteReader second(with_splits, "file");
  second.get_text(8);
  EXPECT_EQ(second.get<std::uint32_t>(), 2U);
  EXPECT_EQ(second.get<std::uint32_t>(), 11U);
}

TEST(FingerprintFile, IsNotWrittenFromColumnsThatMakeNoTable) {
  using Break = std::function<void(Fingerprints&)>;
  const std::vector<std::pair<const char*, Break>> breaks{
      {"ids", [](Fingerprints& t) { t.ids[1] = t.ids[0]; }},
      {"splits", [](Fingerprints& t) { t.splits.pop_back(); }},
      {"split", [](Fingerprints& t) { t.splits[0] = static_cast<Split>(9); }},
      {"labels", [](Fingerprints& t) { t.labels.offsets.back() += 1; }},
      {"labels", [](Fingerprints& t) { t.labels.offsets.clear(); }},
      {"groups", [](Fingerprints& t) { t.group_keys.offsets[1] = 1000; }},
      {"widths_px", [](Fingerprints& t) { t.widths_px.push_back(1); }},
      {"heights_px", [](Fingerprints& t) { t.heights_px.clear(); }},
      {"file_bytes", [](Fingerprints& t) { t.file_bytes.push_back(1); }},
      {"file_hashes", [](Fingerprints& t) { t.file_hashes.pop_back(); }},
      {"pixel_hashes", [](Fingerprints& t) { t.pixel_hashes.pop_back(); }},
      {"sharpness", [](Fingerprints& t) { t.sharpness[0] = NAN; }},
      {"quality", [](Fingerprints& t) { t.quality.push_back(1); }},
      {"name", [](Fingerprints& t) { t.codes[0].hash = "a:b"; }},
      {"twice", [](Fingerprints& t) { t.codes[1] = t.codes[0]; }},
      {"orientations", [](Fingerprints& t) { t.codes[1].orientations = 2; }},
      {"whole words", [](Fingerprints& t) { t.codes[0].bits = 63; }},
      {"whole words", [](Fingerprints& t) { t.codes[0].bits = 0; }},
      {"dhash-128", [](Fingerprints& t) { t.codes[1].words.resize(2); }},
  };
  for (const auto& [word, damage] : breaks) {
    Fingerprints table = small_table();
    damage(table);
    try {
      serialize(table);
      FAIL() << "wrote a table with broken " << word;
    } catch (const FormatError& error) {
      EXPECT_THAT(error.what(), HasSubstr(word));
    }
  }
  Fingerprints table = small_table();
  table.codes[0].hash = std::string(60, 'x');
  EXPECT_THROW(serialize(table), UsageError);
}

TEST(SelectionFile, IsNotWrittenFromColumnsThatMakeNoSelection) {
  const std::vector<std::function<void(Selection&)>> breaks{
      [](Selection& s) { s.ids[0] = 4; },
      [](Selection& s) { s.mode = static_cast<SelectionMode>(3); },
      [](Selection& s) { s.weights.pop_back(); },
      [](Selection& s) { s.weights[0] = -1; },
      [](Selection& s) { s.weights[0] = std::numeric_limits<float>::infinity(); },
      [](Selection& s) {
        s.components = {1, 0, 0};
      },
      [](Selection& s) {
        s.components = {0, 2, 1};
      },
      [](Selection& s) { s.kept[1] = 2; },
      [](Selection& s) { s.rules[1] = static_cast<Rule>(kRuleCount); },
      [](Selection& s) { s.splits.resize(2); },
      [](Selection& s) { s.splits.resize(3, static_cast<Split>(4)); },
      [](Selection& s) { s.distances.clear(); },
  };
  for (const auto& damage : breaks) {
    Selection selection = small_selection();
    damage(selection);
    EXPECT_THROW(serialize(selection), FormatError);
  }
}

TEST(FingerprintFile, RefusesCountsBeyondMemoryWithoutAskingForIt) {
  Bytes bytes = serialize(small_table());
  for (const std::uint64_t count :
       {std::uint64_t{1} << 31, std::uint64_t{1} << 61, ~std::uint64_t{0}}) {
    Bytes bad = bytes;
    std::memcpy(bad.data() + 16, &count, 8);  // rows
    seal(bad);
    EXPECT_THROW(parse_fingerprints(bad, "file"), FormatError);
    bad = bytes;
    std::memcpy(bad.data() + 24 + 48, &count, 8);  // elements of the first column
    seal(bad);
    EXPECT_THROW(parse_fingerprints(bad, "file"), FormatError);
    bad = bytes;
    std::memcpy(bad.data() + 24 + 56, &count, 8);  // its offset
    seal(bad);
    EXPECT_THROW(parse_fingerprints(bad, "file"), FormatError);
  }
}

TEST(FingerprintFile, RefusesAnUnknownColumn) {
  // The last column's name in the directory: one changed letter turns "codes:" into an unknown
  // name.
  Bytes bytes = serialize(small_table());
  bytes[24 + 64 * 14] = std::byte{'n'};
  seal(bytes);
  try {
    parse_fingerprints(bytes, "file");
    FAIL() << "read an unknown column";
  } catch (const FormatError& error) {
    EXPECT_THAT(error.what(), HasSubstr("unknown column 'nodes:dhash-128:7:128'"));
  }
}

Fingerprints rows_of(const Fingerprints& table, std::size_t first, std::size_t last) {
  std::vector<TestImage> images(last - first);
  for (std::size_t i = 0; i < images.size(); ++i) images[i].id = table.ids[first + i];
  Fingerprints out = make_table(images);
  out.labels = {};
  out.group_keys = {};
  out.codes = table.codes;
  for (CodeColumn& column : out.codes) column.words.clear();
  for (std::size_t row = first; row < last; ++row) {
    const std::size_t i = row - first;
    out.splits[i] = table.splits[row];
    out.labels.push_back(table.labels[row]);
    out.group_keys.push_back(table.group_keys[row]);
    out.widths_px[i] = table.widths_px[row];
    if (!table.audit.empty()) out.audit.push_back(table.audit[row]);
    if (table.thumbnails.size() > 0) out.thumbnails.push_back(table.thumbnails[row]);
    out.heights_px[i] = table.heights_px[row];
    out.file_bytes[i] = table.file_bytes[row];
    out.file_hashes[i] = table.file_hashes[row];
    out.pixel_hashes[i] = table.pixel_hashes[row];
    out.sharpness[i] = table.sharpness[row];
    out.quality[i] = table.quality[row];
    for (std::size_t c = 0; c < out.codes.size(); ++c) {
      const auto code = table.codes[c].code(row);
      out.codes[c].words.insert(out.codes[c].words.end(), code.begin(), code.end());
    }
  }
  return out;
}

FingerprintWriter::Size size_of(const Fingerprints& table) {
  return FingerprintWriter::size_of(table);
}

TEST(FingerprintWriter, PutsATableTogetherFromAnyParts) {
  const TemporaryFolder folder;
  for (const std::size_t rows : {0, 20, 3000}) {
    const Fingerprints table = small_table(rows);
    const Bytes whole = serialize(table);
    const std::size_t step = 1 + rows / 5;
    for (std::size_t a = 0; a <= rows; a += step) {
      for (std::size_t b = a; b <= rows; b += step) {
        FingerprintWriter out(folder / "table", table, size_of(table));
        out.append(rows_of(table, 0, a));
        out.append(rows_of(table, a, b));
        out.append(rows_of(table, b, rows));
        EXPECT_EQ(out.finish(), xxh3_128(whole));
        ASSERT_EQ(read_file(folder / "table"), whole) << a << " " << b;
      }
    }
  }
}

TEST(Fingerprints, AreMergedInTheOrderOfTheirIds) {
  const Fingerprints table = small_table(40);
  for (const std::size_t every : {1, 2, 3, 40}) {
    std::vector<Fingerprints> parts;
    for (std::size_t first = 0; first < every; ++first) {  // every n-th row
      std::vector<Fingerprints> rows;
      for (std::size_t i = first; i < table.size(); i += every) {
        rows.push_back(rows_of(table, i, i + 1));
      }
      parts.push_back(merge(rows));
    }
    parts.push_back(rows_of(table, 0, 0));
    EXPECT_EQ(serialize(merge(parts)), serialize(table)) << every;
    for (Fingerprints& part : parts) part = select_columns(part, {"groups", "quality"});
    const Fingerprints some = merge(parts);
    EXPECT_EQ(some.ids, table.ids);
    EXPECT_EQ(some.quality, table.quality);
    EXPECT_EQ(some.group_keys.values, table.group_keys.values);
    EXPECT_EQ(some.labels.size(), 0U);
    EXPECT_TRUE(some.sharpness.empty());
    EXPECT_TRUE(some.codes.empty());
  }
  EXPECT_EQ(merge({}).size(), 0U);
}

TEST(Fingerprints, HaveNoOffsetsThatDoNotFit) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  EXPECT_EQ(ragged_offset(0), 0U);
  EXPECT_EQ(ragged_offset(kMost), kMost);
  EXPECT_THROW(ragged_offset(kMost + 1), UsageError);
  EXPECT_THROW(ragged_offset(3 * kMost), UsageError);
  const Fingerprints table = small_table(10);
  const TemporaryFolder folder;
  const auto writer = [&](const TableSize& size) {
    FingerprintWriter(folder / "large", table, size);
  };
  EXPECT_THROW(writer({.rows = 10, .labels = kMost + 1}), UsageError);
  EXPECT_THROW(writer({.rows = 10, .group_bytes = kMost + 1}), UsageError);
}

TEST(FingerprintFile, OfSomeRowsIsThatOfATableOfThem) {
  const TemporaryFolder folder;
  const Fingerprints table = small_table(40);
  const ColumnSource columns = [&](const ColumnNames& names) {
    return select_columns(table, names);
  };
  std::vector<std::string> hashes;
  for (const CodeColumn& codes : table.codes) hashes.push_back(codes.hash);
  ASSERT_EQ(hashes.size(), 2U);
  for (const auto& [first, last] : {std::pair{0, 40}, {0, 7}, {9, 10}, {31, 40}, {5, 5}}) {
    std::vector<bool> keep(table.size());
    std::fill(keep.begin() + first, keep.begin() + last, true);
    const Bytes want =
        serialize(rows_of(table, static_cast<std::size_t>(first), static_cast<std::size_t>(last)));
    EXPECT_EQ(write_rows(folder / "table", columns, hashes, keep), xxh3_128(want));
    EXPECT_EQ(read_file(folder / "table"), want) << first << " " << last;
  }
}

// More rows than a column buffers in memory, at once and in small pieces.
TEST(FingerprintWriter, ManyRows) {
  const TemporaryFolder folder;
  const Fingerprints table = small_table(70'000);
  for (const std::size_t step : {70'000, 999}) {
    FingerprintWriter out(folder / "table", table, size_of(table));
    for (std::size_t at = 0; at < 70'000; at += step) {
      out.append(rows_of(table, at, std::min<std::size_t>(70'000, at + step)));
    }
    out.finish();
    EXPECT_TRUE(read_file(folder / "table") == serialize(table));
  }
}

TEST(FingerprintWriter, RefusesWhatDoesNotFit) {
  const TemporaryFolder folder;
  const Fingerprints table = small_table(10);
  FingerprintWriter out(folder / "table", table, size_of(table));
  out.append(rows_of(table, 0, 5));
  EXPECT_THROW(out.append(rows_of(table, 4, 10)), UsageError);
  Fingerprints back = rows_of(table, 5, 10);
  back.codes[0].version = 2;
  EXPECT_THROW(out.append(back), UsageError);
  back = rows_of(table, 5, 10);
  back.codes.pop_back();
  EXPECT_THROW(out.append(back), UsageError);
  EXPECT_THROW(out.finish(), Error);  // fewer than announced
  EXPECT_FALSE(std::filesystem::exists(folder / "table"));
  out.append(rows_of(table, 5, 10));
  EXPECT_EQ(out.finish(), xxh3_128(serialize(table)));

  FingerprintWriter small(folder / "small", table, size_of(rows_of(table, 0, 3)));
  EXPECT_THROW(small.append(table), Error);
  const std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  EXPECT_THROW(FingerprintWriter(folder / "large", table, {.rows = most}), UsageError);
}

TEST(FingerprintFile, GivesTheColumnsThatAreAskedFor) {
  const TemporaryFolder folder;
  const Fingerprints table = small_table(50);
  write_file_durably(folder / "table", serialize(table));
  const InputFile file(folder / "table");
  EXPECT_EQ(serialize(read_fingerprints(file, nullptr)), serialize(table));
  const ColumnNames none;
  const Fingerprints least = read_fingerprints(file, &none);
  EXPECT_EQ(least.ids, table.ids);
  EXPECT_EQ(least.splits, table.splits);
  EXPECT_EQ(least.labels.size(), 0U);
  EXPECT_TRUE(least.file_hashes.empty());
  EXPECT_TRUE(least.codes.empty());
  EXPECT_NO_THROW(check_table(least, "table", &none));
  EXPECT_THROW(check_table(least, "table"), FormatError);
  const ColumnNames some{"labels", "quality", "codes:dhash-128"};
  const Fingerprints part = read_fingerprints(file, &some);
  EXPECT_EQ(part.labels.values, table.labels.values);
  EXPECT_EQ(part.quality, table.quality);
  EXPECT_TRUE(part.sharpness.empty());
  ASSERT_EQ(part.codes.size(), 1U);
  EXPECT_EQ(part.codes[0].words, table.codes[1].words);
  EXPECT_THROW(check_table(least, "table", &some), FormatError);
}

TEST(FingerprintFile, HasMeasuresOfAllRowsOrOfNone) {
  const TemporaryFolder folder;
  const Fingerprints plain = small_table(20);
  const Fingerprints table = audited(plain);
  const Bytes bytes = serialize(table);
  EXPECT_EQ(static_cast<int>(serialize(plain).at(8)), 1);  // version
  EXPECT_EQ(static_cast<int>(bytes.at(8)), 2);
  EXPECT_EQ(parse_fingerprints(bytes, "table").audit, table.audit);
  EXPECT_TRUE(parse_fingerprints(serialize(plain), "table").audit.empty());

  // In pieces, and for some rows only.
  for (const bool whole : {true, false}) {
    FingerprintWriter out(folder / "table", table, size_of(table));
    if (whole) {
      out.append([&](const ColumnNames& names) { return select_columns(table, names); });
    } else {
      out.append(rows_of(table, 0, 7));
      out.append(rows_of(table, 7, 20));
    }
    out.finish();
    EXPECT_EQ(read_file(folder / "table"), bytes);
  }
  const ColumnNames audit{"audit"};
  write_file_durably(folder / "plain", serialize(plain));
  EXPECT_EQ(read_fingerprints(InputFile(folder / "table"), &audit).audit, table.audit);
  EXPECT_TRUE(read_fingerprints(InputFile(folder / "plain"), &audit).audit.empty());
  const auto source = [&](const ColumnNames& names) { return select_columns(table, names); };
  std::vector<bool> keep(20);
  keep[3] = keep[9] = true;
  write_rows(folder / "some", source, {"phash", "dhash-128"}, keep);
  EXPECT_EQ(read_fingerprints(InputFile(folder / "some"), nullptr).audit,
            (std::vector{table.audit[3], table.audit[9]}));

  // Together with rows that have none.
  FingerprintWriter mixed(folder / "mixed", table,
                          {20, table.labels.values.size(), table.group_keys.values.size(), 7});
  mixed.append(rows_of(table, 0, 7));
  mixed.append(rows_of(plain, 7, 20));
  mixed.finish();
  EXPECT_EQ(read_file(folder / "mixed"), serialize(plain));
  Fingerprints sum = rows_of(table, 0, 7);
  append_rows(sum, rows_of(plain, 7, 20));
  EXPECT_EQ(serialize(sum), serialize(plain));
  const std::vector<Fingerprints> parts{rows_of(plain, 0, 7), rows_of(table, 7, 20)};
  EXPECT_EQ(serialize(merge(parts)), serialize(plain));
  const std::vector<Fingerprints> both{rows_of(table, 7, 20), rows_of(table, 0, 7)};
  EXPECT_EQ(serialize(merge(both)), bytes);
}

TEST(FingerprintFile, RefusesMeasuresThatNoPictureHas) {
  Fingerprints table = audited(small_table(5));
  table.audit.pop_back();
  EXPECT_THROW(serialize(table), FormatError);
  table.audit.push_back({.orientation = 9});
  EXPECT_THROW(serialize(table), FormatError);
  table.audit.back().orientation = 8;
  Bytes bytes = serialize(table);
  bytes.at(8) = std::byte{1};
  seal(bytes);
  EXPECT_THROW(parse_fingerprints(bytes, "table"), FormatError);
  bytes = serialize(small_table(5));
  bytes.at(8) = std::byte{2};
  seal(bytes);
  EXPECT_THROW(parse_fingerprints(bytes, "table"), FormatError);
}

TEST(FingerprintFile, HasThumbnailsOfAllRowsOrOfNone) {
  const TemporaryFolder folder;
  const Fingerprints plain = audited(small_table(40));
  Fingerprints sizes = pictured(plain);
  const Fingerprints table = sizes;
  sizes.thumbnails = {};
  const Bytes bytes = serialize(table);
  EXPECT_EQ(static_cast<int>(bytes.at(8)), 3);  // version
  EXPECT_EQ(parse_fingerprints(bytes, "table").thumbnails.values, table.thumbnails.values);
  EXPECT_EQ(parse_fingerprints(serialize(plain), "table").thumbnails.size(), 0U);
  const auto source = [&](const ColumnNames& names) { return select_columns(table, names); };

  // In pieces, and for some rows only.
  for (const bool whole : {true, false}) {
    FingerprintWriter out(folder / "table", table, size_of(table));
    if (whole) {
      ASSERT_EQ(FingerprintWriter::size_of(source, thumbnails_of(table)).thumbnail_blocks,
                table.thumbnails.values.size());
      out.append(source, thumbnails_of(table));
    } else {
      for (std::size_t row = 0; row < 40; row += 5) out.append(rows_of(table, row, row + 5));
    }
    const Hash128 hash = out.finish();
    EXPECT_EQ(hash, hash_of_table(InputFile(folder / "table")));
    EXPECT_EQ(read_file(folder / "table"), bytes);
  }
  std::vector<bool> keep(40);
  for (const std::size_t row : {0, 1, 3, 20, 24, 39}) keep[row] = true;
  write_rows(folder / "some", source, {"phash", "dhash-128"}, keep, thumbnails_of(table));
  EXPECT_EQ(read_file(folder / "some"), serialize(select_rows(table, keep)));
  write_rows(folder / "some", source, {"phash", "dhash-128"}, keep);
  EXPECT_EQ(read_file(folder / "some"), serialize(select_rows(sizes, keep)));

  // Together with rows that have none.
  Fingerprints sum = rows_of(table, 0, 7);
  append_rows(sum, rows_of(sizes, 7, 40));
  EXPECT_EQ(serialize(sum), serialize(sizes));
  const std::vector<Fingerprints> parts{rows_of(sizes, 0, 7), rows_of(table, 7, 40)};
  EXPECT_EQ(serialize(merge(parts)), serialize(sizes));
  const std::vector<Fingerprints> both{rows_of(table, 7, 40), rows_of(table, 0, 7)};
  EXPECT_EQ(serialize(merge(both)), bytes);
  TableSize mixed = size_of(rows_of(table, 0, 7));
  mixed += size_of(rows_of(sizes, 7, 40));
  FingerprintWriter out(folder / "mixed", table, mixed);
  out.append(rows_of(table, 0, 7));
  out.append(rows_of(sizes, 7, 40));
  out.finish();
  EXPECT_EQ(read_file(folder / "mixed"), serialize(sizes));
}

TEST(FingerprintFile, LeavesThumbnailsWhereTheyAre) {
  const TemporaryFolder folder;
  const Fingerprints table = pictured(small_table(60));
  ASSERT_GT(table.thumbnails.values.size(), 2 * kApartBytes / sizeof(ThumbnailBlock));
  Bytes bytes = serialize(table);
  const auto write = [&] { write_file_durably(folder / "table", bytes); };
  const auto open = [&] { return std::make_shared<const InputFile>(folder / "table"); };
  write();
  const Hash128 hash = hash_of_table(*open());
  EXPECT_EQ(thumbnail_bytes(*open()), table.thumbnails.values.size() * sizeof(ThumbnailBlock));
  const ColumnNames alone{"thumbnails"};
  EXPECT_EQ(read_fingerprints(*open(), &alone).thumbnails.values, table.thumbnails.values);
  {
    const ThumbnailSource thumbnails = open_thumbnails(open());
    for (const auto& [first, count] :
         {std::pair{0U, 60U}, {0U, 1U}, {31U, 7U}, {59U, 1U}, {60U, 0U}}) {
      const Ragged<ThumbnailBlock> rows = thumbnails(first, count);
      EXPECT_EQ(rows.offsets, thumbnails_of(table)(first, count).offsets);
      EXPECT_EQ(rows.values, thumbnails_of(table)(first, count).values);
    }
  }
  // Damage in a thumbnail is detected when that thumbnail is read, and nowhere else.
  bytes[bytes.size() - 8 - 64] ^= std::byte{1};
  write();
  EXPECT_EQ(hash_of_table(*open()), hash);
  const ColumnNames others{"quality", "codes:phash"};
  EXPECT_EQ(read_fingerprints(*open(), &others).quality, table.quality);
  const ThumbnailSource thumbnails = open_thumbnails(open());
  EXPECT_EQ(thumbnails(0, 20).values, thumbnails_of(table)(0, 20).values);
  EXPECT_THROW(thumbnails(59, 1), FormatError);
  EXPECT_THROW(read_fingerprints(*open(), nullptr), FormatError);
  EXPECT_THROW(parse_fingerprints(bytes, "table"), FormatError);
  // Damage anywhere else changes the hash.
  for (const std::size_t at :
       {std::size_t{8}, std::size_t{40}, std::size_t{3000}, bytes.size() - 1}) {
    bytes[at] ^= std::byte{1};
    write();
    EXPECT_NE(hash_of_table(*open()), hash) << at;
    bytes[at] ^= std::byte{1};
  }

  write_file_durably(folder / "table", serialize(small_table(5)));
  EXPECT_EQ(open_thumbnails(open()), nullptr);
  EXPECT_EQ(thumbnail_bytes(*open()), 0U);
  EXPECT_EQ(hash_of_table(*open()), xxh3_128(*open()));
}

TEST(FingerprintFile, HasAHashWhateverItIs) {
  const TemporaryFolder folder;
  const Bytes whole = serialize(pictured(small_table(5)));
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    write_file_durably(folder / "cut", BytesView(whole).first(bytes));
    EXPECT_NO_THROW(hash_of_table(InputFile(folder / "cut"))) << bytes;
  }
}

TEST(FingerprintFile, RefusesThumbnailsThatNoImageHas) {
  const auto refused = [](Fingerprints table) { EXPECT_THROW(serialize(table), FormatError); };
  const Fingerprints table = pictured(small_table(8));
  Fingerprints bad = table;
  bad.thumbnails = thumbnails_of(table)(0, 7);
  refused(bad);
  bad = table;
  bad.widths_px[7] *= 2;
  bad.heights_px[7] *= 9;
  refused(bad);
  bad = table;
  bad.thumbnails.values[0][63] = 1;  // behind its only pixel
  refused(bad);
  bad = table;
  bad.thumbnails.offsets[3] -= 1;
  refused(bad);
  bad = table;
  bad.thumbnails.offsets[3] += 1'000'000;
  refused(bad);
  // A version without thumbnails.
  Bytes bytes = serialize(table);
  for (const int version : {1, 2}) {
    bytes.at(8) = static_cast<std::byte>(version);
    seal(bytes, table.thumbnails.values.size() * sizeof(ThumbnailBlock));
    EXPECT_THROW(parse_fingerprints(bytes, "table"), FormatError);
  }
  bytes = serialize(small_table(5));
  bytes.at(8) = std::byte{3};
  seal(bytes);
  EXPECT_THROW(parse_fingerprints(bytes, "table"), FormatError);
}

TEST(Thumbnails, OfSeveralTables) {
  const Fingerprints table = pictured(small_table(30));
  const Fingerprints a = rows_of(table, 0, 9);
  const Fingerprints b = rows_of(table, 9, 10);
  const Fingerprints c = rows_of(table, 10, 30);
  const ThumbnailSource all = join_rows({{thumbnails_of(a), 9},
                                         {ThumbnailSource(), 0},
                                         {thumbnails_of(b), 1},
                                         {thumbnails_of(c), 20}});
  for (std::size_t first = 0; first < 30; ++first) {
    for (std::size_t count = 0; first + count <= 30; ++count) {
      EXPECT_EQ(all(first, count).offsets, thumbnails_of(table)(first, count).offsets);
      EXPECT_EQ(all(first, count).values, thumbnails_of(table)(first, count).values);
    }
  }
  EXPECT_EQ(join_rows({{thumbnails_of(a), 9}, {ThumbnailSource(), 21}}), nullptr);
  EXPECT_EQ(join_rows({}), nullptr);
  EXPECT_EQ(select_rows(ThumbnailSource(), std::vector<bool>(30, true)), nullptr);
}

TEST(SelectionFile, IsTheSameHoweverItIsWrittenAndRead) {
  const TemporaryFolder folder;
  const Selection selection = small_selection();
  write_selection(folder / "strict", selection);
  const Bytes bytes = serialize(selection);
  EXPECT_EQ(read_file(folder / "strict"), bytes);
  EXPECT_EQ(serialize(read_selection(InputFile(folder / "strict"))), bytes);
  Bytes bad = bytes;
  bad[bytes.size() / 2] ^= std::byte{1};
  write_file_durably(folder / "strict", bad);
  EXPECT_THROW(read_selection(InputFile(folder / "strict")), FormatError);
}

}  // namespace winnow::dedup::files_test
