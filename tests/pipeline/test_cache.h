#pragma once

// A small cache made by hand.

// jpeglib.h needs FILE.
// clang-format off
#include <cstdio>
#include <jpeglib.h>
// clang-format on

#include <stdlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "common/checksum.h"
#include "common/error.h"
#include "common/file.h"
#include "common/lmdb/lmdb.h"
#include "common/rng.h"
#include "pipeline/decode/decode.h"
#include "pipeline/store/cache.h"

namespace winnow::pipeline::test {

struct Sample {
  SampleId id = 0;
  Split split = Split::kTrain;
  std::vector<std::int32_t> labels;
  std::string group;
  Image image;
  Coding coding = Coding::kRaw;
  Bytes payload;
};

inline Image random_image(int height, int width, int channels, std::uint64_t seed) {
  Image image(height, width, channels);
  CounterRng rng(seed, 0, 0, RandomUse::kTest);
  for (std::uint8_t& value : image.pixels) value = static_cast<std::uint8_t>(rng.below(256));
  return image;
}

inline Bytes to_bytes(BytesView view) { return {view.begin(), view.end()}; }

inline Sample raw(SampleId id, Image image) {
  Sample sample;
  sample.id = id;
  sample.labels = {static_cast<std::int32_t>(id % 3)};
  sample.payload = to_bytes(as_bytes(image.pixels));
  sample.image = std::move(image);
  return sample;
}

inline Bytes to_jpeg(const Image& image) {
  jpeg_error_mgr errors;
  jpeg_compress_struct jpeg;
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* data = nullptr;
  unsigned long size = 0;  // NOLINT: libjpeg's type
  jpeg_mem_dest(&jpeg, &data, &size);
  jpeg.image_width = static_cast<JDIMENSION>(image.width_px);
  jpeg.image_height = static_cast<JDIMENSION>(image.height_px);
  jpeg.input_components = image.channels;
  jpeg.in_color_space = image.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg_start_compress(&jpeg, TRUE);
  while (jpeg.next_scanline < jpeg.image_height) {
    auto* row = const_cast<JSAMPROW>(image.view().row(static_cast<int>(jpeg.next_scanline)));
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  const std::unique_ptr<unsigned char, void (*)(void*)> owner(data, std::free);
  return to_bytes(std::as_bytes(std::span(data, size)));
}

inline Sample encoded(SampleId id, const Image& image) {
  Bytes payload = to_jpeg(image);
  Sample sample = raw(id, *decode(payload, {}));
  sample.payload = std::move(payload);
  sample.coding = Coding::kEncoded;
  return sample;
}

inline ShardInfo write_shard(const std::filesystem::path& root, const std::string& file,
                             std::span<const Sample> samples) {
  lmdb::Writer writer(root / file);
  for (std::size_t begin = 0; begin < samples.size(); begin += 3) {
    std::vector<RecordView> records;
    for (const Sample& s :
         samples.subspan(begin, std::min<std::size_t>(3, samples.size() - begin))) {
      records.push_back({s.id, s.split, s.coding, s.image.height_px, s.image.width_px,
                         s.image.channels, s.labels, s.group, s.payload});
    }
    writer.put({{records.front().id, pack_records(records)}});
  }
  writer.seal();
  ShardInfo info{file, samples.front().id, samples.back().id, samples.size(), 0, {}};
  const Bytes bytes = read_file(root / file);
  info.bytes = bytes.size();
  for (std::size_t at = 0; at < bytes.size(); at += kBlockBytes) {
    info.block_hashes.push_back(to_hex(xxh3_64(
        BytesView(bytes).subspan(at, std::min<std::size_t>(kBlockBytes, bytes.size() - at)))));
  }
  return info;
}

// A cache of `samples` in a few shards, with ids ascending. It owns a temporary folder.
class TestCache {
 public:
  explicit TestCache(const std::vector<Sample>& samples, const std::string& store = "original",
                     std::size_t shards = 2, std::vector<std::string> classes = {"a", "b", "c"})
      : root_(make_root()) {
    std::filesystem::create_directories(root_ / "shards");
    std::filesystem::create_directories(root_ / "fingerprints");
    std::filesystem::create_directories(root_ / "selections");
    Manifest manifest;
    manifest.store = store;
    manifest.classes = std::move(classes);
    manifest.inputs.total = samples.back().id + 1;
    manifest.sources = {
        {"test", "folder", manifest.inputs.total, to_hex(Hash128{}), manifest.classes}};
    manifest.tables.hashes = {};
    manifest.images.channels = 3;
    std::vector<LedgerRow> ledger;
    dedup::Fingerprints table;
    for (const Sample& s : samples) {
      while (ledger.size() < s.id) {
        ledger.push_back({ledger.size(), "gap", Split::kNone, Fate::kCorrupt, "not read"});
      }
      ledger.push_back({s.id, "name" + std::to_string(s.id), s.split, Fate::kOk, ""});
      ++manifest.images.split_counts[static_cast<std::size_t>(s.split)];
      table.ids.push_back(s.id);
      table.splits.push_back(s.split);
      table.labels.push_back(s.labels);
      table.group_keys.push_back(std::span<const char>(s.group));
      table.widths_px.push_back(static_cast<std::uint32_t>(s.image.width_px));
      table.heights_px.push_back(static_cast<std::uint32_t>(s.image.height_px));
      table.file_bytes.push_back(s.payload.size());
      table.file_hashes.push_back(xxh3_128(s.payload));
      table.pixel_hashes.push_back(xxh3_128(as_bytes(s.image.pixels)));
      table.sharpness.push_back(1);
      table.quality.push_back(50);
    }
    manifest.inputs.by_fate = by_name(count_fates(ledger));
    if (store != "none") {
      const std::span all(samples);
      for (std::size_t i = 0; i < shards; ++i) {
        const std::size_t begin = (samples.size() * i + shards - 1) / shards;
        const std::size_t end = (samples.size() * (i + 1) + shards - 1) / shards;
        manifest.shards.push_back(write_shard(root_, "shards/0000" + std::to_string(i) + ".mdb",
                                              all.subspan(begin, end - begin)));
      }
    }
    const Bytes fingerprints = serialize(table);
    const std::string ledger_text = to_json_lines(ledger);
    manifest.tables.fingerprints_hash = to_hex(xxh3_128(fingerprints));
    manifest.tables.ledger_hash = to_hex(xxh3_128(as_bytes(std::string_view(ledger_text))));
    const CachePaths paths{root_};
    write_file_durably(paths.fingerprints(), fingerprints);
    write_file_durably(paths.ledger(), std::string_view(ledger_text));
    write_file_durably(paths.manifest(), std::string_view(to_json(manifest)));
    cache_.emplace(Cache::open(root_));
  }
  ~TestCache() {
    cache_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  TestCache(const TestCache&) = delete;
  TestCache& operator=(const TestCache&) = delete;

  const Cache& operator*() const { return *cache_; }
  const Cache* operator->() const { return &*cache_; }

 private:
  static std::filesystem::path make_root() {
    std::string name = (std::filesystem::temp_directory_path() / "winnow-loader-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw_errno("mkdtemp " + name);
    return name;
  }

  std::filesystem::path root_;
  std::optional<Cache> cache_;
};

// Raw and encoded samples, grey and colour, of the target's size and others.
inline std::vector<Sample> mixed_samples(std::size_t count) {
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < count; ++i) {
    const SampleId id = 10 + i * 3;  // gaps stand for unreadable inputs
    const int channels = i % 3 == 0 ? 1 : 3;
    const int height = i % 4 == 0 ? 32 : 20 + static_cast<int>(i % 17);
    const int width = i % 4 == 0 ? 32 : 20 + static_cast<int>(i % 13);
    Image image = random_image(height, width, channels, id);
    samples.push_back(i % 2 == 0 ? raw(id, std::move(image)) : encoded(id, image));
    samples.back().labels.assign(i % 4, static_cast<std::int32_t>(i % 3));
    if (i % 5 == 0) samples.back().group = "group " + std::to_string(i / 10);
  }
  return samples;
}

}  // namespace winnow::pipeline::test
