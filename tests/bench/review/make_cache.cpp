// Makes a small cache look as if it had any number of images in groups of three, with a selection
// `near` of these groups: see measure. Only the original images have pictures.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "common/checksum.h"
#include "common/file.h"
#include "common/rng.h"
#include "dedup/decisions/settings.h"
#include "pipeline/store/cache.h"
#include "pipeline/store/ledger.h"

namespace winnow {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kClasses = 1000;

struct Data {
  dedup::Fingerprints table;
  dedup::Selection selection;
};

Split split_of(std::uint32_t row) { return row % 97 == 0 ? Split::kTest : Split::kTrain; }

// Groups of three, spread evenly over the rows. The codes of a group differ in a few bits.
Data make_data(std::uint32_t images, std::uint32_t groups) {
  Data data;
  CounterRng random(1, 0, 0, RandomUse::kTest);
  dedup::CodeColumn codes = dedup::empty_codes("phash", 1, 64);
  const std::uint32_t stride = images / groups;
  std::uint64_t code = 0;
  for (std::uint32_t row = 0; row < images; ++row) {
    const std::uint32_t place = row % stride;
    const bool grouped = row / stride < groups && place < 3;
    const bool stands = !grouped || place == 0;
    if (stands) code = random.next_u64();
    const std::uint32_t bits = stands ? 0 : 1 + random.below(8);
    codes.words.push_back(code ^ ((std::uint64_t{1} << bits) - 1));
    data.table.ids.push_back(row);
    data.table.splits.push_back(split_of(row));
    const auto label = static_cast<std::int32_t>(random.below(kClasses));
    data.table.labels.push_back(std::span(&label, 1));
    data.table.group_keys.push_back({});
    data.table.widths_px.push_back(640);
    data.table.heights_px.push_back(480);
    data.table.file_bytes.push_back(100'000);
    Hash128 hash;
    for (auto& byte : hash.bytes) byte = static_cast<std::uint8_t>(random.next_u32());
    data.table.file_hashes.push_back(hash);
    data.table.pixel_hashes.push_back(hash);
    data.table.sharpness.push_back(1);
    data.table.quality.push_back(100);
    data.selection.ids.push_back(row);
    data.selection.weights.push_back(stands ? 1 : 0);
    const std::uint32_t before =
        data.selection.components.empty() ? 0 : data.selection.components.back() + 1;
    data.selection.components.push_back(stands ? before : before - 1);
    data.selection.kept.push_back(stands ? row : row - place);
    data.selection.distances.push_back(static_cast<std::uint16_t>(bits));
    data.selection.rules.push_back(stands ? dedup::Rule::kKept : dedup::Rule::kDuplicate);
  }
  data.table.codes.push_back(std::move(codes));
  return data;
}

void write_ledger(const fs::path& path, std::uint32_t images) {
  DurableFile file(path);
  std::vector<pipeline::LedgerRow> rows;
  for (std::uint32_t row = 0; row < images; ++row) {
    rows.push_back({.id = row,
                    .name = "train/class" + std::to_string(row % kClasses) + "/image_" +
                            std::to_string(row) + ".jpg",
                    .split = split_of(row),
                    .fate = pipeline::Fate::kOk,
                    .reason = {}});
    if (rows.size() < 10000 && row + 1 < images) continue;
    file.append(as_bytes(pipeline::to_json_lines(rows)));
    rows.clear();
  }
  file.finish();
}

std::string write_table(const fs::path& path, const dedup::Fingerprints& table) {
  DurableFile file(path);
  file.append(dedup::serialize(table));
  file.finish();
  return to_hex(xxh3_128(InputFile(path)));
}

pipeline::Manifest grown(pipeline::Manifest manifest, const dedup::Fingerprints& table) {
  const std::uint64_t images = table.size();
  manifest.inputs.total = images;
  manifest.inputs.by_fate.at("ok") = images;
  manifest.sources.front().inputs = images;
  manifest.classes.clear();
  for (std::uint32_t i = 0; i < kClasses; ++i) {
    manifest.classes.push_back("class" + std::to_string(i));
  }
  manifest.sources.front().class_names = manifest.classes;
  manifest.shards.resize(1);
  manifest.shards.front().last_id = images - 1;
  manifest.shards.front().records = images;
  manifest.images.statistics.reset();
  manifest.images.tally.reset();
  manifest.images.split_counts = {};
  for (const Split split : table.splits) {
    ++manifest.images.split_counts.at(static_cast<std::size_t>(split));
  }
  return manifest;
}

void run(const fs::path& cache, std::uint32_t images, std::uint32_t groups) {
  const pipeline::CachePaths paths{cache};
  Data data = make_data(images, groups);
  write_ledger(paths.ledger(), images);
  pipeline::Manifest manifest = grown(
      pipeline::parse_manifest(read_text(paths.manifest()), paths.manifest().string()), data.table);
  manifest.tables = {.hashes = {"phash:1"},
                     .fingerprints_hash = write_table(paths.fingerprints(), data.table),
                     .ledger_hash = to_hex(xxh3_128(InputFile(paths.ledger())))};
  DurableFile file(paths.manifest());
  file.append(as_bytes(pipeline::to_json(manifest)));
  file.finish();
  data.selection.name = "near";
  data.selection.settings = dedup::settings_of(dedup::Options{.hash = "phash", .threshold = 8}, 1);
  data.selection.cache_digest = pipeline::digest(manifest);
  fs::create_directories(cache / "selections");
  dedup::write_selection(paths.selection("near"), data.selection);
}

}  // namespace
}  // namespace winnow

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "bench_review CACHE IMAGES GROUPS, such as small 3000000 200000\n");
    return 2;
  }
  winnow::run(argv[1], static_cast<std::uint32_t>(std::atoi(argv[2])),
              static_cast<std::uint32_t>(std::atoi(argv[3])));
  return 0;
}
