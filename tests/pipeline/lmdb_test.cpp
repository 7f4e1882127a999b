#include "common/lmdb/lmdb.h"

#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "common/error.h"
#include "common/file.h"
#include "common/lmdb/structure.h"
#include "tests/common/temporary_folder.h"

namespace winnow::lmdb::lmdb_test {

namespace fs = std::filesystem;

// Deterministic noise that does not depend on the project's own generator.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : state_(seed * 2 + 1) {}
  std::uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }
  std::uint64_t below(std::uint64_t n) { return next() % n; }

 private:
  std::uint64_t state_;
};

using Puts = std::vector<std::vector<Writer::Entry>>;

// Values of every size that LMDB treats differently: empty, inside a leaf page, one overflow page
// and many, and the sizes at the limits.
Puts make_puts(std::uint64_t seed, int transactions, std::uint64_t alignment = 1) {
  const std::vector<std::uint64_t> sizes{0,    1,    7,    8,     100,   2000, 2015,
                                         2016, 2017, 2040, 4072,  4080,  4081, 5000,
                                         8176, 8177, 9000, 65536, 300000};
  Noise noise(seed);
  Puts puts;
  std::uint64_t key = 0;
  for (int t = 0; t < transactions; ++t) {
    std::vector<Writer::Entry> entries;
    for (std::uint64_t i = 0, n = noise.below(40); i < n; ++i) {
      key += 1 + noise.below(1000);
      Bytes value(sizes[noise.below(sizes.size())] / alignment * alignment);
      for (std::byte& b : value) b = static_cast<std::byte>(noise.next());
      entries.emplace_back(key, std::move(value));
    }
    puts.push_back(std::move(entries));
  }
  return puts;
}

Bytes write(const fs::path& path, const Puts& puts) {
  Writer writer(path);
  for (const auto& entries : puts) writer.put(entries);
  writer.seal();
  return read_file(path);
}

std::vector<Writer::Entry> flatten(const Puts& puts) {
  std::vector<Writer::Entry> all;
  for (const auto& entries : puts) all.insert(all.end(), entries.begin(), entries.end());
  return all;
}

bool equal(BytesView a, BytesView b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

TEST(Lmdb, ReadsWhatWasWritten) {
  const TemporaryFolder folder;
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const Puts puts = make_puts(seed, 12);
    write(folder / "a.mdb", puts);
    const Reader reader(folder / "a.mdb");
    const auto want = flatten(puts);
    const auto got = reader.all();
    ASSERT_EQ(got.size(), want.size());
    EXPECT_EQ(reader.entries(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i) {
      EXPECT_EQ(got[i].first, want[i].first);
      EXPECT_TRUE(equal(got[i].second, want[i].second)) << "value " << i;
    }
    EXPECT_FALSE(fs::exists(folder / "a.mdb-lock"));
  }
}

TEST(Lmdb, FindsTheLargestKeyNotAbove) {
  const TemporaryFolder folder;
  const Puts puts = make_puts(5, 6);
  write(folder / "a.mdb", puts);
  const Reader reader(folder / "a.mdb");
  const auto all = flatten(puts);
  ASSERT_GT(all.size(), 20u);
  for (std::uint64_t key = 0; key < all.back().first + 3; ++key) {
    const auto [found, value] = reader.at_or_before(key);
    const auto after = std::find_if(all.begin(), all.end(),
                                    [key](const auto& entry) { return entry.first > key; });
    if (after == all.begin()) {
      EXPECT_EQ(found, 0u);
      EXPECT_TRUE(value.empty());
    } else {
      ASSERT_EQ(found, std::prev(after)->first);
      ASSERT_TRUE(equal(value, std::prev(after)->second));
    }
  }
}

TEST(Lmdb, EmptyEnvironment) {
  const TemporaryFolder folder;
  write(folder / "a.mdb", {});
  const Reader reader(folder / "a.mdb");
  EXPECT_EQ(reader.entries(), 0u);
  EXPECT_TRUE(reader.at_or_before(~std::uint64_t{0}).second.empty());
}

TEST(Lmdb, ValuesOfWholeWordsAreAligned) {
  const TemporaryFolder folder;
  write(folder / "a.mdb", make_puts(9, 20, /*alignment=*/8));
  const Reader reader(folder / "a.mdb");
  ASSERT_GT(reader.entries(), 100u);
  for (const auto& [key, value] : reader.all()) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(value.data()) % 8, 0u);
  }
}

// M_PERTURB fills memory that malloc gives out or takes back, so bytes that LMDB did not write
// would show.
TEST(Lmdb, EqualPutsGiveEqualFiles) {
  const TemporaryFolder folder;
  for (const std::uint64_t seed : {11u, 12u, 13u, 14u}) {
    const Puts puts = make_puts(seed, 40);
    mallopt(M_PERTURB, 0x5A);
    const Bytes first = write(folder / "a.mdb", puts);
    mallopt(M_PERTURB, 0xC3);
    const Bytes second = write(folder / "b.mdb", puts);
    mallopt(M_PERTURB, 0);
    const Bytes third = write(folder / "a.mdb", puts);
    EXPECT_TRUE(equal(first, second)) << "seed " << seed;
    EXPECT_TRUE(equal(first, third)) << "seed " << seed;
  }
}

TEST(Lmdb, GrowsPastItsFirstMap) {
  const TemporaryFolder folder;
  Puts puts;
  for (std::uint64_t i = 0; i < 6; ++i) puts.push_back({{i, Bytes(9u << 20, std::byte(i))}});
  const Bytes first = write(folder / "a.mdb", puts);
  EXPECT_TRUE(equal(first, write(folder / "b.mdb", puts)));
  const Reader reader(folder / "a.mdb");
  ASSERT_EQ(reader.entries(), 6u);
  EXPECT_EQ(reader.at_or_before(5).second[12345], std::byte{5});
}

// Bytes of files that are mapped into this process and resident.
std::uint64_t mapped_bytes() {
  std::ifstream in("/proc/self/statm");
  std::uint64_t pages = 0;
  std::uint64_t resident = 0;
  std::uint64_t of_files = 0;
  in >> pages >> resident >> of_files;
  return of_files * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

TEST(Lmdb, DroppedPagesLeaveThisProcessAndComeBack) {
  const TemporaryFolder folder;
  Puts puts;
  for (std::uint64_t key = 0; key < 64; ++key) {
    puts.push_back({{key, Bytes(512 << 10, static_cast<std::byte>(key))}});
  }
  write(folder / "a", puts);
  const Reader reader(folder / "a");
  const std::uint64_t before = mapped_bytes();
  for (int round = 0; round < 2; ++round) {
    for (const auto& [key, value] : reader.all()) {
      ASSERT_TRUE(std::all_of(value.begin(), value.end(),
                              [k = static_cast<std::byte>(key)](std::byte b) { return b == k; }));
    }
    EXPECT_GE(mapped_bytes(), before + (24U << 20));
    reader.drop_pages();
    EXPECT_LE(mapped_bytes(), before + (4U << 20));
  }
}

TEST(Lmdb, KeysMustAscend) {
  const TemporaryFolder folder;
  Writer writer(folder / "a.mdb");
  writer.put({{5, Bytes(10)}});
  EXPECT_THROW(writer.put({{5, Bytes(10)}}), Error);
  EXPECT_THROW(writer.put({{7, Bytes(10)}, {6, Bytes(10)}}), Error);
}

TEST(Lmdb, MissingFileAndFolderAreSystemErrors) {
  const TemporaryFolder folder;
  EXPECT_THROW(Reader(folder / "none.mdb"), SystemError);
  EXPECT_THROW(Writer(folder / "none" / "a.mdb"), SystemError);
}

void overwrite(const fs::path& path, BytesView bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
}

// Opens a damaged file and reads every byte of every value. Only FormatError is allowed.
bool survives(const fs::path& path) {
  try {
    const Reader reader(path);
    volatile std::uint64_t sum = 0;  // volatile forces the reads
    for (const auto& [key, value] : reader.all()) {
      for (const std::byte b : value) sum = sum + static_cast<std::uint64_t>(b);
    }
    return true;
  } catch (const FormatError&) {
    return true;
  }
}

TEST(Lmdb, PlacesOfValuesAreThoseThatAreMapped) {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.mdb";
  Puts puts(3);
  for (std::uint64_t i = 0; i < 900; ++i) {
    puts[i / 300].emplace_back(i * 5, Bytes(i % 50 == 7 ? 70'000 : 24, std::byte(i)));
  }
  const Bytes file = write(path, puts);
  const Reader reader(path);
  const auto all = reader.all();
  std::size_t next = 0;
  for_each_place(InputFile(path), [&](std::uint64_t key, std::uint64_t begin, std::uint64_t bytes) {
    ASSERT_LT(next, all.size());
    EXPECT_EQ(key, all[next].first);
    ASSERT_EQ(bytes, all[next].second.size());
    EXPECT_TRUE(std::ranges::equal(BytesView(file).subspan(begin, bytes), all[next].second));
    ++next;
  });
  EXPECT_EQ(next, 900U);
  // A file cut at any point is refused; nothing is read behind its end.
  for (std::size_t size = 0; size < file.size(); size += 1 + file.size() / 40) {
    overwrite(path, BytesView(file).first(size));
    EXPECT_THROW(for_each_place(InputFile(path), [](auto...) {}), FormatError) << size;
  }
}

// Damage to the tree pages of a file with several levels could crash LMDB.
TEST(Lmdb, DamageNeverCrashes) {
  const TemporaryFolder folder;
  Puts puts(1);
  for (std::uint64_t i = 0; i < 400; ++i)
    puts[0].emplace_back(i * 3, Bytes(i % 50 == 7 ? 5000 : 24));
  const Bytes good = write(folder / "good.mdb", puts);
  ASSERT_GE(Reader(folder / "good.mdb").entries(), 400u);
  Noise noise(3);
  const fs::path bad = folder / "bad.mdb";
  // All bytes in both meta pages, and many in every other page that holds no value.
  for (std::size_t at = 0; at < good.size(); ++at) {
    const std::size_t page = at / 4096;
    std::uint16_t flags = 0;
    std::memcpy(&flags, good.data() + page * 4096 + 10, 2);
    const bool tree = (flags & 0x0B) != 0;
    if (!tree || (at % 4096 >= 152 && noise.below(16) != 0)) continue;
    Bytes damaged = good;
    damaged[at] ^= static_cast<std::byte>(1u << noise.below(8));
    overwrite(bad, damaged);
    EXPECT_TRUE(survives(bad)) << "byte " << at;
  }
  for (int i = 0; i < 300; ++i) {  // bursts
    Bytes damaged = good;
    for (std::uint64_t k = 0, n = 1 + noise.below(30); k < n; ++k) {
      damaged[noise.below(damaged.size())] = static_cast<std::byte>(noise.next());
    }
    overwrite(bad, damaged);
    EXPECT_TRUE(survives(bad)) << "burst " << i;
  }
  for (std::size_t size = 0; size < good.size(); size += 1 + noise.below(3000)) {
    overwrite(bad, BytesView(good).first(size));
    EXPECT_THROW(Reader{bad}, FormatError) << "cut to " << size;
  }
}

TEST(Lmdb, StructureRefusesLoopsAndWrongRoots) {
  const TemporaryFolder folder;
  Puts puts(1);
  for (std::uint64_t i = 0; i < 500; ++i) puts[0].emplace_back(i, Bytes(40));
  const Bytes good = write(folder / "a.mdb", puts);
  EXPECT_NO_THROW(check_structure(good, "a"));
  EXPECT_THROW(check_structure({}, "a"), FormatError);
  // Points the root of the newest meta page at every page in turn. Only the right one is a tree of
  // that depth with that many entries.
  std::uint64_t transactions[2];
  std::memcpy(&transactions[0], good.data() + 16 + 128, 8);
  std::memcpy(&transactions[1], good.data() + 4096 + 16 + 128, 8);
  const std::size_t root_at = (transactions[0] >= transactions[1] ? 0 : 4096) + 16 + 112;
  int accepted = 0;
  for (std::uint64_t page = 0; page < good.size() / 4096 + 3; ++page) {
    Bytes bad = good;
    std::memcpy(bad.data() + root_at, &page, 8);
    try {
      check_structure(bad, "a");
      ++accepted;
    } catch (const FormatError&) {
    }
  }
  EXPECT_EQ(accepted, 1);
}

}  // namespace winnow::lmdb::lmdb_test
