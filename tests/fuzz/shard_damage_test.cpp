// Damaged and cut shards: records are read as they were stored or not at all, and nothing crashes.
// By default every seventh case of each kind is run, with WINNOW_TEST_ALL=1 every one.
#include <gtest/gtest.h>

#include "common/checksum.h"
#include "common/lmdb/lmdb.h"
#include "pipeline/store/cache.h"
#include "tests/common/some_of.h"
#include "tests/common/temporary_folder.h"
#include "tests/fuzz/damage.h"

namespace winnow::pipeline {
using namespace test;
namespace shard_damage_test {

namespace fs = std::filesystem;

// A record that owns its data.
struct Kept {
  SampleId id;
  Split split;
  std::vector<std::int32_t> labels;
  std::string group;
  int height_px, width_px, channels;
  Bytes payload;

  explicit Kept(const RecordView& r)
      : id(r.id),
        split(r.split),
        labels(r.labels.begin(), r.labels.end()),
        group(r.group),
        height_px(r.height_px),
        width_px(r.width_px),
        channels(r.channels),
        payload(r.payload.begin(), r.payload.end()) {}
  bool operator==(const RecordView& r) const {
    return id == r.id && split == r.split && std::ranges::equal(labels, r.labels) &&
           group == r.group && height_px == r.height_px && width_px == r.width_px &&
           channels == r.channels && std::ranges::equal(payload, r.payload);
  }
};

// A cache with one shard, and its contents.
class Subject {
 public:
  explicit Subject(const fs::path& root) : root_(root), victim_(root / "shards" / "00000.mdb") {
    const Cache cache = Cache::open(root);
    const lmdb::Reader reader(victim_.path());
    const Bytes& file = victim_.good();
    content_.assign(file.size(), false);
    const std::byte* map = start_of_map(reader, file);
    for (const auto& [key, pack] : reader.all()) {
      const auto pack_at = static_cast<std::size_t>(pack.data() - map);
      for (const RecordView& record : unpack_records(pack, "it")) {
        kept_.emplace_back(cache.record(record.id));
        const auto end = record.payload.data() + record.payload.size() - pack.data();
        const auto begin = reinterpret_cast<const std::byte*>(record.labels.data()) - pack.data() -
                           static_cast<std::ptrdiff_t>(kRecordHeaderBytes);
        std::fill(content_.begin() + static_cast<std::ptrdiff_t>(pack_at) + begin,
                  content_.begin() + static_cast<std::ptrdiff_t>(pack_at) + end, true);
      }
    }
  }

  Victim& victim() noexcept { return victim_; }
  const std::vector<Kept>& kept() const noexcept { return kept_; }
  // Damage to headers and payloads of records must be refused; elsewhere it may have no effect.
  Must must(std::size_t at) const { return content_[at] ? Must::kRefuse : Must::kRefuseOrSame; }

  Read read(Verify verify = Verify::kSizes) const {
    return [this, verify] {
      const Cache cache = Cache::open(root_, {verify});
      for (const Kept& kept : kept_) {
        if (!(kept == cache.record(kept.id))) throw std::logic_error("another record");
      }
    };
  }

 private:
  // Pages that LMDB no longer uses hold copies of small packs; only the largest pack is in a single
  // place.
  static const std::byte* start_of_map(const lmdb::Reader& reader, const Bytes& file) {
    const auto packs = reader.all();
    const BytesView largest =
        std::max_element(packs.begin(), packs.end(), [](const auto& a, const auto& b) {
          return a.second.size() < b.second.size();
        })->second;
    const auto found = std::search(file.begin(), file.end(), largest.begin(), largest.end());
    return largest.data() - (found - file.begin());
  }

  fs::path root_;
  Victim victim_;
  std::vector<Kept> kept_;
  std::vector<bool> content_;
};

Bytes noise(std::mt19937_64& random, std::size_t size) {
  Bytes bytes(size);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random());
  return bytes;
}

// A shard whose tree has a branch page, leaves, and overflow pages of one page and of several.
void make_tree(const fs::path& root) {
  std::mt19937_64 random(7);
  fs::create_directories(root / "shards");
  const fs::path file = root / "shards" / "00000.mdb";
  ShardInfo info;
  info.file = "shards/00000.mdb";
  lmdb::Writer writer(file);
  SampleId id = 0;
  std::vector<lmdb::Writer::Entry> entries;
  for (int pack = 0; pack < 12; ++pack) {
    const std::size_t payload = pack == 5 ? 9000 : pack == 8 ? 2500 : 700 + random() % 700;
    const std::string group = "patient " + std::to_string(pack);
    const std::vector<std::int32_t> labels{pack, 0};
    std::vector<Bytes> payloads;
    std::vector<RecordView> records;
    for (std::size_t i = 0, n = 1 + random() % 2; i < n; ++i) {
      payloads.push_back(noise(random, payload / n));
      records.push_back({.id = id++,
                         .split = Split::kTrain,
                         .coding = Coding::kEncoded,
                         .height_px = 3,
                         .width_px = 5,
                         .channels = 1,
                         .labels = labels,
                         .group = group,
                         .payload = {}});
    }
    for (std::size_t i = 0; i < records.size(); ++i) records[i].payload = payloads[i];
    info.records += records.size();
    entries.emplace_back(records.front().id, pack_records(records));
    id += random() % 2;  // an unreadable input
    if (pack == 6) {
      writer.put(entries);
      entries.clear();
    }
  }
  writer.put(entries);
  writer.seal();
  const Bytes bytes = read_file(file);
  info.last_id = id - 1;
  info.bytes = bytes.size();
  info.block_hashes = {to_hex(xxh3_64(bytes))};

  Manifest m;
  m.inputs.total = id;
  m.sources = {{.name = "noise",
                .format = "fake",
                .inputs = id,
                .listing_hash = std::string(32, '0'),
                .class_names = {}}};
  m.inputs.by_fate = by_name({});
  m.inputs.by_fate["ok"] = info.records;
  m.inputs.by_fate["corrupt"] = id - info.records;
  m.images.split_counts = {0, info.records, 0, 0};
  m.images.channels = 1;
  for (int pack = 0; pack < 12; ++pack) m.classes.push_back(std::to_string(pack));
  m.store = "original";
  m.tables.fingerprints_hash = m.tables.ledger_hash = std::string(32, '0');
  m.shards = {info};
  const CachePaths paths{root};
  write_file_durably(paths.manifest(), to_json(m));
}

// Runs every `step`-th damage of a series. The step is coprime to the sizes of fields and pages.
std::size_t step() {
  const std::size_t step = run_all() ? 1 : 7;
  std::printf("damages: 1 of %zu\n", step);
  return step;
}

class ShardDamage : public testing::TestWithParam<const char*> {
 protected:
  ShardDamage() {
    const fs::path root = folder_ / "cache";
    if (GetParam() == std::string("tree")) {
      make_tree(root);
    } else {
      const bool newer = GetParam() == std::string("variants");
      copy_golden((newer ? "v2/" : "v1/") + std::string(GetParam()), root);
    }
    subject_.emplace(root);
  }

  TemporaryFolder folder_;
  std::optional<Subject> subject_;
};

TEST_P(ShardDamage, EveryByteFlipped) {
  Judge judge(subject_->victim(), subject_->read());
  const bool thorough = GetParam() == std::string("original");
  flip_every_byte(
      subject_->victim(), judge, thorough ? Bits::kTwo : Bits::kOne,
      [&](std::size_t at) { return subject_->must(at); }, step());
  EXPECT_GT(judge.refused(), 10'000 / static_cast<int>(step()));
}

TEST_P(ShardDamage, Scattered) {
  Judge judge(subject_->victim(), subject_->read());
  const int parts = static_cast<int>(step());
  scatter(subject_->victim(), judge, 2000 / parts, 6000);
  scatter(subject_->victim(), judge, 4000 / parts, 8);
  EXPECT_GT(judge.refused(), 3000 / parts);
}

// The numbers that steer LMDB: each field of the pages of its tree is set to near, far and absurd
// values.
TEST_P(ShardDamage, SteeringNumbers) {
  Victim& victim = subject_->victim();
  const auto pages = victim.good().size() / 4096;
  const std::vector<std::uint64_t> values{0,         1,         2,          3,
                                          pages - 1, pages,     pages + 1,  16,
                                          4095,      4096,      0x7FFF,     0xFFFF,
                                          1u << 16,  1u << 31,  0xFFFFFFFF, std::uint64_t{1} << 47,
                                          ~0ULL,     ~0ULL - 1, ~0ULL >> 1, 0x1000000000000000};
  Judge judge(victim, subject_->read());
  const std::size_t every = step();
  std::size_t number = 0;
  for (std::size_t at = 0; at + 8 <= victim.good().size(); at += 2) {
    const std::size_t in_page = at % 4096;
    std::uint16_t flags = 0;
    std::memcpy(&flags, victim.good().data() + at - in_page + 10, 2);
    const bool tree = flags == 1 || flags == 2 || flags == 8;  // branch, leaf, meta
    if (!tree || in_page >= 160) continue;
    for (const std::size_t width : {2, 4, 8}) {
      for (const std::uint64_t value : values) {
        if (number++ % every != 0) continue;
        victim.write(at, std::as_bytes(std::span(&value, 1)).first(width));
        judge.judge(Must::kRefuseOrSame, [&] {
          return std::to_string(value) + " in " + std::to_string(width) + " bytes at " +
                 std::to_string(at);
        });
        victim.write(at, BytesView(victim.good()).subspan(at, width));
      }
    }
  }
  EXPECT_GT(judge.refused(), 1000 / static_cast<int>(every));
}

INSTANTIATE_TEST_SUITE_P(Caches, ShardDamage,
                         testing::Values("raw", "original", "variants", "tree"),
                         [](const auto& row) { return std::string(row.param); });

TEST(Shard, VerifyFindsEveryFlippedByte) {
  const TemporaryFolder folder;
  copy_golden("v1/original", folder / "cache");
  Subject subject(folder / "cache");
  Judge judge(subject.victim(), subject.read(Verify::kBlocks));
  flip_every_byte(subject.victim(), judge, Bits::kOne, always, step());
}

TEST(Shard, EveryLengthAndGrown) {
  const TemporaryFolder folder;
  copy_golden("v1/original", folder / "cache");
  Subject subject(folder / "cache");
  Judge judge(subject.victim(), subject.read());
  cut_to_every_length(subject.victim(), judge, step());
  grow(subject.victim(), judge);
}

// Without the length that the manifest states.
TEST(Shard, EveryLengthOfTheTreeAlone) {
  const TemporaryFolder folder;
  make_tree(folder / "cache");
  Victim victim(folder / "cache" / "shards" / "00000.mdb");
  Judge judge(victim, [&] { lmdb::Reader reader(victim.path()); });
  cut_to_every_length(victim, judge, step());
}

// Only records hidden by damage are refused; an input that never had a record is different.
TEST(Shard, ARecordThatNeverWasIsNoDamage) {
  const TemporaryFolder folder;
  copy_golden("v1/original", folder / "cache");
  const Cache cache = Cache::open(folder / "cache");
  for (const LedgerRow& row : cache.read_ledger()) {
    if (row.fate == Fate::kOk) {
      EXPECT_EQ(cache.record(row.id).id, row.id);
      continue;
    }
    try {
      cache.record(row.id);
      ADD_FAILURE() << "a record of " << row.name;
    } catch (const FormatError& error) {
      ADD_FAILURE() << error.what();
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("could not be read"), std::string::npos);
    }
  }
}

}  // namespace shard_damage_test
}  // namespace winnow::pipeline
