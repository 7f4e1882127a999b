// make_cache FOLDER [variants]
//
// Makes a small cache at FOLDER/cache, by request one with variants. From winnow's own reader it
// writes:
// FOLDER/lines     the lines that docs/read_cache.py should print
// FOLDER/payloads  all payloads in a row
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "pipeline/ingest/ingest.h"
#include "pipeline/store/cache.h"
#include "tests/pipeline/fake_source.h"

namespace {

using namespace winnow;

void make(const std::filesystem::path& folder, bool variants) {
  std::filesystem::create_directories(folder);
  std::mt19937_64 random(1);
  FakeSource source;
  source.mutable_class_names() = {"cat", "dog", "bird"};
  for (int i = 0; i < 200; ++i) {
    const Image image = make_picture(random, 8 + i % 50, 9 + i % 40, i % 3 == 0 ? 1 : 3);
    const auto split = static_cast<Split>(i % kSplitCount);
    std::vector<std::int32_t> labels;
    for (int k = 0; k < i % 4; ++k) labels.push_back((i + k) % 3);
    const std::string group = i % 5 == 0 ? "group " + std::to_string(i / 7) : "";
    if (i % 10 == 7) {
      source.add("broken", Bytes(30), split);
    } else if (i % 10 == 4) {
      source.add("raw", image, split, labels, group);
    } else {
      source.add("encoded", encode_picture(image, i % 2 ? ".jpg" : ".png"), split, labels, group);
    }
  }
  pipeline::IngestOptions options;
  options.shard_bytes = 100'000;
  if (variants) {
    options.store = pipeline::Store::kRaw;
    options.variants = {
        .copies = 3, .recipe = pipeline::Recipe::kCifar, .height_px = 9, .width_px = 7};
  }
  pipeline::ingest(source, "pictures", folder / "cache", options, {});

  const auto cache = pipeline::Cache::open(folder / "cache");
  std::ofstream lines(folder / "lines");
  std::ofstream payloads(folder / "payloads", std::ios::binary);
  for (const SampleId id : cache.read_fingerprints().ids) {
    const pipeline::RecordView record = cache.record(id);
    lines << id << ' ' << split_name(record.split) << " [";
    for (std::size_t i = 0; i < record.labels.size(); ++i) {
      lines << (i ? ", " : "") << record.labels[i];
    }
    lines << "] b'" << record.group << "' "
          << (record.coding == pipeline::Coding::kRaw ? "raw" : "encoded") << " ("
          << record.height_px << ", " << record.width_px << ", " << record.channels << ") "
          << record.payload.size() << " bytes\n";
    payloads.write(reinterpret_cast<const char*>(record.payload.data()),
                   static_cast<std::streamsize>(record.payload.size()));
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc < 2 || argc > 3) return 2;
    make(argv[1], argc == 3);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
