// Forged files: changed at random and sealed again, so that checksums and digests are valid. They
// are refused with an error of ours, or they are well-formed and usable.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "common/checksum.h"
#include "common/json_text.h"
#include "dedup/decisions/deduplicate.h"
#include "pipeline/store/cache.h"
#include "places.h"
#include "tests/common/temporary_folder.h"
#include "tests/fuzz/damage.h"

namespace winnow::pipeline {
using namespace test;
namespace forgery_test {

namespace fs = std::filesystem;

struct Count {
  int refused = 0;
  int used = 0;
};

// Runs `use`. Anything but an Error of ours is a failure.
template <class Use>
void attempt(Count& count, const std::string& what, Use use) {
  try {
    use();
    ++count.used;
  } catch (const Error&) {
    ++count.refused;
  } catch (const std::exception& error) {
    ADD_FAILURE() << what << ": " << error.what();
  }
}

// A small number, one at a limit, or any number.
std::uint64_t odd_number(std::mt19937_64& random) {
  const auto power = random() % 65;
  const std::uint64_t base = power == 64 ? 0 : std::uint64_t{1} << power;
  switch (random() % 4) {
    case 0:
      return base;
    case 1:
      return base - 1;
    case 2:
      return random() % 50;
    default:
      return random();
  }
}

void change(std::mt19937_64& random, std::span<std::byte> bytes) {
  for (std::uint64_t i = 0, n = 1 + random() % 3; i < n; ++i) {
    const std::uint64_t number = odd_number(random);
    const std::size_t width = std::size_t{1} << random() % 4;
    const std::size_t at = random() % bytes.size() / width * width;
    std::memcpy(bytes.data() + at, &number, std::min(width, bytes.size() - at));
  }
}

void seal_column_file(Bytes& bytes) {
  const std::uint64_t checksum = xxh3_64(BytesView(bytes).first(bytes.size() - 8));
  std::memcpy(bytes.data() + bytes.size() - 8, &checksum, 8);
}

fs::path golden(const std::string& path) { return fs::path(WINNOW_GOLDEN) / "v1" / path; }

TEST(Forgery, Fingerprints) {
  std::mt19937_64 random(1);
  const Bytes good = read_file(golden("original/fingerprints/table"));
  Count count;
  for (int i = 0; i < 30'000; ++i) {
    Bytes bad = good;
    const bool directory = i % 2 == 0;
    change(random, std::span(bad).first(directory ? 24 + 64 * 15 : bad.size() - 8));
    seal_column_file(bad);
    attempt(count, "table " + std::to_string(i), [&] {
      const dedup::Fingerprints table = dedup::parse_fingerprints(bad, "table");
      if (random() % 16 != 0) return;
      for (const char* hash : {"exact", "phash"}) {
        dedup::Options options;
        options.hash = hash;
        dedup::serialize(dedup::deduplicate(table, options).selection);
      }
    });
  }
  EXPECT_GT(count.refused, 10'000);
  EXPECT_GT(count.used, 1000);
}

TEST(Forgery, Selections) {
  std::mt19937_64 random(2);
  const Bytes good = read_file(golden("original/selections/golden.selection"));
  Count count;
  for (int i = 0; i < 30'000; ++i) {
    Bytes bad = good;
    change(random, std::span(bad).first(bad.size() - 8));
    seal_column_file(bad);
    attempt(count, "selection " + std::to_string(i),
            [&] { dedup::serialize(dedup::parse_selection(bad, "selection")); });
  }
  EXPECT_GT(count.refused, 10'000);
  EXPECT_GT(count.used, 1000);
}

// A pack with random directory and headers. The checksum of each record is valid.
void forge_packs(int variants) {
  std::mt19937_64 random(3);
  Bytes payload(64);
  for (std::byte& b : payload) b = static_cast<std::byte>(random());
  const std::vector<std::int32_t> labels{1, 2, 3};
  std::vector<RecordView> records;
  for (SampleId id = 10; id < 14; ++id) {
    records.push_back({.id = id,
                       .split = Split::kTrain,
                       .coding = id % 2 == 0 || variants > 1 ? Coding::kRaw : Coding::kEncoded,
                       .height_px = 8 / variants,
                       .width_px = 8,
                       .channels = 1,
                       .labels = labels,
                       .group = "somebody",
                       .payload = payload,
                       .variants = variants});
  }
  const Bytes good = pack_records(records);
  constexpr std::size_t kFirst = 8 + 4 * 8;
  const std::size_t record_bytes = (good.size() - kFirst) / 4;
  Count count;
  for (int i = 0; i < 100'000; ++i) {
    Bytes bad = good;
    const std::size_t header = kFirst + record_bytes * (random() % 4);
    const bool directory = i % 4 == 0;
    change(random, directory ? std::span(bad).first(kFirst)
                             : std::span(bad).subspan(header, kRecordHeaderBytes + 24));
    if (!directory) {  // as far as the header says that the record goes, if that lies in the pack
      std::uint16_t version = 0;
      std::uint16_t variant_count = 0;
      std::uint16_t label_count = 0;
      std::uint16_t group_bytes = 0;
      std::uint32_t payload_bytes = 0;
      std::memcpy(&version, bad.data() + header + 8, 2);
      std::memcpy(&variant_count, bad.data() + header + 34, 2);
      std::memcpy(&label_count, bad.data() + header + 12, 2);
      std::memcpy(&group_bytes, bad.data() + header + 14, 2);
      std::memcpy(&payload_bytes, bad.data() + header + 36, 4);
      const std::size_t before = kRecordHeaderBytes + std::size_t{4} * label_count + group_bytes;
      const bool several = version == 2 && variant_count > 0;
      const std::size_t payload_at =
          (before + 7) / 8 * 8 + std::size_t{8} * (several ? variant_count : 0);
      const std::size_t end = payload_at + (several ? 0 : payload_bytes);
      if (end <= bad.size() - header) {
        const std::uint64_t checksum = xxh3_64(BytesView(bad).subspan(header + 8, end - 8));
        std::memcpy(bad.data() + header, &checksum, 8);
      }
    }
    const auto inside = [&](const RecordView& record) {
      const auto holds = [&](const void* begin, std::size_t size) {
        const auto* at = static_cast<const std::byte*>(begin);
        return size == 0 || (at >= bad.data() && at + size <= bad.data() + bad.size());
      };
      EXPECT_TRUE(holds(record.payload.data(), record.payload.size()));
      EXPECT_TRUE(holds(record.labels.data(), record.labels.size_bytes()));
      EXPECT_TRUE(holds(record.group.data(), record.group.size()));
      EXPECT_GE(record.height_px, 1);
      EXPECT_GE(record.width_px, 1);
    };
    attempt(count, "pack " + std::to_string(i), [&] {
      for (const RecordView& record : unpack_records(bad, "pack")) inside(record);
    });
    for (SampleId id = 9; id < 15; ++id) {
      attempt(count, "pack " + std::to_string(i), [&] {
        const PickVariant last = [](int number) { return number - 1; };
        const FoundRecord found = find_record(bad, id, "pack", i % 2 == 0 ? last : PickVariant{});
        if (found.found) inside(found.record);
      });
    }
  }
  EXPECT_GT(count.refused, 100'000);
  EXPECT_GT(count.used, 100'000);
}

TEST(Forgery, Packs) { forge_packs(1); }
TEST(Forgery, PacksOfVariants) { forge_packs(4); }

// Replaces one value anywhere in the tree by one that is odd for its place.
void change(std::mt19937_64& random, nlohmann::ordered_json& value) {
  if (value.is_structured() && !value.empty() && random() % 8 != 0) {
    auto at = value.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(random() % value.size()));
    if (random() % 40 == 0) {
      value.erase(at);
    } else {
      change(random, *at);
    }
    return;
  }
  switch (random() % 8) {
    case 0:
      value = nullptr;
      break;
    case 1:
      value = -static_cast<std::int64_t>(odd_number(random) >> 1);
      break;
    case 2:
      value = std::string(random() % 40, '/');
      break;
    case 3:
      value = nlohmann::ordered_json::array({value, value});
      break;
    case 4:
      value = 1e300;
      break;
    default:
      value = odd_number(random);
  }
}

// With the shards, tables and ledger of the real one.
TEST(Forgery, Manifests) {
  const TemporaryFolder folder;
  const fs::path root = folder / "cache";
  copy_golden("v1/original", root);
  const CachePaths paths{root};
  const auto good = nlohmann::ordered_json::parse(read_text(paths.manifest()));
  std::mt19937_64 random(4);
  Count count;
  for (int i = 0; i < 6000; ++i) {
    nlohmann::ordered_json bad = good;
    bad.erase("digest");
    for (std::uint64_t k = 0, n = 1 + random() % 2; k < n; ++k) change(random, bad);
    if (!bad.is_object()) continue;
    std::ofstream(paths.manifest(), std::ios::binary) << with_digest_line(bad.dump(2) + "\n");
    attempt(count, "manifest " + std::to_string(i), [&] {
      const Cache cache = Cache::open(root);
      cache.manifest().images.mean();
      cache.manifest().images.deviation();
      for (const SampleId id : cache.read_fingerprints().ids) cache.record(id);
      cache.read_ledger();
      to_json(cache.manifest());
    });
  }
  EXPECT_GT(count.refused, 2000);
  EXPECT_GT(count.used, 100);
}

TEST(Forgery, Ledgers) {
  const std::string good = read_text(golden("original/ledger.jsonl"));
  std::mt19937_64 random(5);
  Count count;
  for (int i = 0; i < 20'000; ++i) {
    std::string bad = good;
    for (std::uint64_t k = 0, n = 1 + random() % 4; k < n; ++k) {
      bad[random() % bad.size()] =
          static_cast<char>(random() % 2 == 0 ? random() : "{}[]\",:\\0-9"[random() % 11]);
    }
    attempt(count, "ledger " + std::to_string(i), [&] { parse_ledger(bad, "ledger"); });
  }
  EXPECT_GT(count.refused, 5000);
  EXPECT_GT(count.used, 1000);
}

}  // namespace forgery_test
}  // namespace winnow::pipeline
