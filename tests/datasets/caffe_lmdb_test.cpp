#include "datasets/caffe_lmdb.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lmdb.h>

#include <cstring>
#include <fstream>
#include <map>

#include "common/error.h"
#include "common/file.h"
#include "common/lmdb/lmdb.h"
#include "datasets/formats.h"
#include "tests/common/temporary_folder.h"
#include "tests/datasets/source_lines.h"
#include "tests/datasets/wire_writer.h"

namespace winnow::datasets::caffe_lmdb_test {

namespace fs = std::filesystem;
using test::bytes_field;
using test::number_field;
using testing::ElementsAre;
using testing::HasSubstr;

std::string encoded(const std::string& image, std::uint64_t label) {
  return bytes_field(4, image) + number_field(5, label) + number_field(7, 1);
}
std::string raw(std::uint64_t channels, std::uint64_t height, std::uint64_t width,
                const std::string& planes, std::uint64_t label) {
  return number_field(1, channels) + number_field(2, height) + number_field(3, width) +
         bytes_field(4, planes) + number_field(5, label);
}

using Values = std::map<std::string, std::string>;

// As Caffe writes it, with a thousand entries per transaction.
void write_lmdb(const fs::path& folder, const Values& values) {
  fs::create_directories(folder);
  MDB_env* env = nullptr;
  ASSERT_EQ(mdb_env_create(&env), 0);
  ASSERT_EQ(mdb_env_set_mapsize(env, 64 << 20), 0);
  ASSERT_EQ(mdb_env_open(env, folder.c_str(), 0, 0664), 0);
  auto next = values.begin();
  while (next != values.end()) {
    MDB_txn* txn = nullptr;
    MDB_dbi table = 0;
    ASSERT_EQ(mdb_txn_begin(env, nullptr, 0, &txn), 0);
    ASSERT_EQ(mdb_dbi_open(txn, nullptr, 0, &table), 0);
    for (int i = 0; i < 1000 && next != values.end(); ++i, ++next) {
      MDB_val key{next->first.size(), const_cast<char*>(next->first.data())};
      MDB_val value{next->second.size(), const_cast<char*>(next->second.data())};
      ASSERT_EQ(mdb_put(txn, table, &key, &value, 0), 0);
    }
    ASSERT_EQ(mdb_txn_commit(txn), 0);
  }
  mdb_env_close(env);
}

std::string read(const Source& source, std::size_t position) {
  const auto payload = source.read(position);
  if (!payload) return payload.error().detail;
  if (const auto* bytes = std::get_if<Bytes>(&*payload)) return std::string(as_text(*bytes));
  return std::string(as_text(as_bytes(std::get<Image>(*payload).pixels)));
}

std::vector<std::string> lines(const Source& source) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < source.entries().size(); ++i) {
    out.push_back(line_of(source, i) + ": " + read(source, i));
  }
  return out;
}

class CaffeLmdbTest : public testing::Test {
 protected:
  std::string refusal(const OpenOptions& options = {}) const {
    try {
      open_source(folder_.path(), options);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  }

  TemporaryFolder folder_;
};

TEST_F(CaffeLmdbTest, ReadsEncodedImagesAndPixels) {
  write_lmdb(folder_ / "set_train_lmdb", {{"00000000_cat/a.jpg", encoded("jpeg", 4)},
                                          {"00000001_b.png", encoded(std::string(9000, 'x'), 0)}});
  write_lmdb(folder_ / "set_val_lmdb", {{"00000000", raw(3, 1, 2, "bBgGrR", 4)},
                                        {"00000001", raw(1, 2, 2, "wxyz", 9)},
                                        {"../x", encoded("", 9)}});
  const auto source = open_source(folder_.path(), {});
  EXPECT_EQ(source->format(), "caffe-lmdb");
  EXPECT_THAT(source->class_names(), ElementsAre("0", "4", "9"));
  EXPECT_EQ(source->description(), "Caffe LMDB: 5 images (train 2, val 3), 3 classes in 2 folders");
  EXPECT_THAT(
      lines(*source),
      ElementsAre("set_train_lmdb/00000000_cat/a.jpg train 4: jpeg",
                  "set_train_lmdb/00000001_b.png train 0: " + std::string(9000, 'x'),
                  "set_val_lmdb/00000 val 9: has no bytes", "set_val_lmdb/00000000 val 4: rgbRGB",
                  "set_val_lmdb/00000001 val 9: wxyz"));
  EXPECT_EQ(std::get<Image>(*source->read(4)).channels, 1);
  EXPECT_EQ(source->read(2).error().kind, ReadError::Kind::kEmpty);
  for (const char* one : {"set_val_lmdb", "set_val_lmdb/", "set_val_lmdb/data.mdb"}) {
    const auto part = open_source(folder_ / one, {});
    EXPECT_EQ(part->entries()[1].name, "00000000") << one;
    EXPECT_EQ(part->entries().split(1), Split::kVal) << one;
  }
}

TEST_F(CaffeLmdbTest, ReadsTreesOfSeveralLevels) {
  Values values;
  for (int i = 0; i < 3000; ++i) {
    const std::string number = std::to_string(100'000 + i);
    values[number + "_" + std::string(static_cast<std::size_t>(i % 100), 'k')] =
        encoded(number + std::string(static_cast<std::size_t>(i % 50 * 100), 'v'),
                static_cast<std::uint64_t>(i % 3));
  }
  write_lmdb(folder_.path(), values);
  const auto source = open_source(folder_.path(), {.labels = LabelsFrom::kNone});
  ASSERT_EQ(source->entries().size(), values.size());
  EXPECT_TRUE(source->class_names().empty());
  std::size_t i = 0;
  for (const auto& [key, value] : values) {
    EXPECT_EQ(source->entries()[i].name, key);
    ASSERT_EQ(encoded(read(*source, i), i % 3), value);
    ++i;
  }
}

TEST_F(CaffeLmdbTest, ValuesThatAreNoImagesAreListed) {
  write_lmdb(folder_.path(), {{"a", encoded("good", 1)},
                              {"b", "\xFF\xFF\xFF"},
                              {"c", raw(4, 1, 1, "rgba", 1)},
                              {"d", raw(3, 1 << 30, 1 << 30, "abc", 1)},
                              {"e", number_field(1, 3) + number_field(6 << 0, 1)}});
  const auto source = open_source(folder_.path(), {});
  EXPECT_EQ(source->entries().size(), 5U);
  EXPECT_TRUE(source->read(0));
  for (std::size_t i = 1; i < 5; ++i) {
    ASSERT_FALSE(source->read(i));
    EXPECT_EQ(source->read(i).error().kind, ReadError::Kind::kCorrupt);
  }
}

TEST_F(CaffeLmdbTest, OtherDatabasesAreRefused) {
  write_lmdb(folder_.path(), {{"a", "some"}, {"b", "text"}});
  EXPECT_THAT(refusal(), HasSubstr("is an LMDB without images"));
  fs::remove_all(folder_ / "data.mdb");
  EXPECT_THAT(refusal({.format = "caffe-lmdb"}), HasSubstr("contains no data.mdb"));
  write_lmdb(folder_ / "more_db", {{"a", encoded("a", ~std::uint64_t{0})}});  // -1
  EXPECT_THAT(refusal(), HasSubstr("labels that are not different class numbers"));
}

TEST_F(CaffeLmdbTest, DamageIsRefusedOrReadAndNeverWorse) {
  write_lmdb(folder_.path(), {{"a", encoded("jpeg", 4)},
                              {"bb", encoded(std::string(5000, 'x'), 0)},
                              {"ccc", raw(3, 1, 2, "bBgGrR", 4)}});
  const fs::path file = folder_ / "data.mdb";
  const std::string good = read_text(file);
  std::fstream damage(file, std::ios::in | std::ios::out | std::ios::binary);
  const auto put = [&](std::size_t at, char byte) {
    damage.seekp(static_cast<std::streamoff>(at)).put(byte).flush();
  };
  const auto look = [&](const std::string& how) {
    try {
      lines(*open_source(folder_.path(), {.format = "caffe-lmdb"}));
    } catch (const FormatError& error) {
      EXPECT_THAT(error.what(), HasSubstr("data.mdb")) << how;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr(folder_.path().string())) << how;
    }
  };
  for (std::size_t at = 0; at < good.size(); ++at) {
    if (at % 4096 > 200 && at % 4096 < 3900 && at % 31 != 0) continue;  // mostly the ends of pages
    for (const int mask : {0xFF, 0x01, 0x40}) {
      put(at, static_cast<char>(good[at] ^ mask));
      look("byte " + std::to_string(at));
    }
    put(at, good[at]);
  }
  const auto source = open_source(folder_.path(), {});
  for (std::size_t size = good.size(); size > 61; size -= 61) {
    fs::resize_file(file, size);
    look("size " + std::to_string(size));
  }
  EXPECT_EQ(source->read(1).error().kind, ReadError::Kind::kIo);
}

// Otherwise a file of some hundred KB could claim gigabytes.
TEST_F(CaffeLmdbTest, ValuesThatShareTheirPagesAreRefused) {
  write_lmdb(folder_.path(), {{"aaaa", encoded(std::string(9000, 'x'), 0)},
                              {"bbbb", encoded(std::string(9000, 'y'), 1)}});
  std::string bad = read_text(folder_ / "data.mdb");
  const auto page_of = [&](const std::string& key) {
    std::uint64_t page = 0;
    std::memcpy(&page, &bad[bad.find(key) + key.size()], sizeof(page));
    return page;
  };
  const std::uint64_t first = page_of("aaaa");
  ASSERT_NE(first, page_of("bbbb"));
  std::memcpy(&bad[bad.find("bbbb") + 4], &first, sizeof(first));
  std::ofstream(folder_ / "data.mdb", std::ios::binary) << bad;
  EXPECT_THAT(refusal({.format = "caffe-lmdb"}), HasSubstr("not a sound LMDB file"));
}

TEST_F(CaffeLmdbTest, KeysThatShareTheirPlaceAreRefused) {
  write_lmdb(folder_.path(), {{"aaaa", encoded(std::string(900, 'x'), 0)},
                              {"bbbb", encoded(std::string(900, 'y'), 1)}});
  std::string bad = read_text(folder_ / "data.mdb");
  const std::size_t page = bad.rfind("aaaa") / 4096 * 4096;
  std::memcpy(&bad[page + 18], &bad[page + 16], 2);  // the positions of nodes in the page
  std::ofstream(folder_ / "data.mdb", std::ios::binary) << bad;
  // Both values keep their lengths: the page has room for both.
  EXPECT_NO_THROW(open_source(folder_.path(), {.format = "caffe-lmdb"}));
  // With a hundred it has not.
  std::uint16_t lower = 16 + 2 * 100;
  std::memcpy(&bad[page + 12], &lower, 2);
  for (int i = 0; i < 100; ++i) std::memcpy(&bad[page + 16 + 2 * i], &bad[page + 16], 2);
  // Number of entries
  for (const std::size_t meta : {0, 4096}) bad[meta + 16 + 24 + 48 + 32] = 100;
  std::ofstream(folder_ / "data.mdb", std::ios::binary) << bad;
  EXPECT_THAT(refusal({.format = "caffe-lmdb"}), HasSubstr("not a sound LMDB file"));
}

}  // namespace winnow::datasets::caffe_lmdb_test
