// fuzz_seeds FOLDER
//
// Writes FOLDER/<harness>/<seed>: small valid files of everything that winnow writes and reads.
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "common/checksum.h"
#include "common/file.h"
#include "common/lmdb/lmdb.h"
#include "common/lmdb/structure.h"
#include "common/utf8.h"
#include "dedup/index/index.h"
#include "dedup/review/review.h"
#include "pipeline/copies/peer_copy_internal.h"
#include "pipeline/copies/shard_copy.h"
#include "pipeline/decode/decode.h"
#include "pipeline/ingest/ingest.h"
#include "pipeline/ingest/part.h"
#include "pipeline/store/cache.h"
#include "places.h"
#include "tests/common/deflate.h"
#include "tests/datasets/wire_writer.h"
#include "tests/dedup/tables.h"
#include "tests/fuzz/coverage/folder.h"
#include "tests/fuzz/coverage/harness.h"
#include "tests/fuzz/mutated_inputs.h"
#include "tests/pipeline/fake_source.h"
#include "tests/train/some_plan.h"
#include "train/checkpoint/checkpoint.h"

namespace winnow::fuzz {
namespace {

namespace fs = std::filesystem;
using namespace test;

// Numbers the seeds of each harness and writes them.
class Seeds {
 public:
  explicit Seeds(fs::path folder) : folder_(std::move(folder)) { fs::remove_all(folder_); }

  void add(std::string_view harness, BytesView bytes) {
    find_harness(harness);
    const fs::path folder = folder_ / harness;
    fs::create_directories(folder);
    write_new_file(folder / std::to_string(count_[std::string(harness)]++), bytes);
  }
  void add(std::string_view harness, std::string_view text) { add(harness, as_bytes(text)); }
  void check_all() const {
    for (const Harness& row : harnesses()) {
      if (!count_.contains(std::string(row.name))) {
        throw Error("no seed is made for " + std::string(row.name));
      }
    }
  }

 private:
  fs::path folder_;
  std::map<std::string, int> count_;
};

// Two files, preceded by the length of the first, as in_two() of datasets.cpp splits them.
std::string two(const std::string& first, const std::string& second) {
  return little_endian(static_cast<std::uint16_t>(first.size())) + first + second;
}

void add_texts(Seeds& seeds) {
  seeds.add("json", R"({"a": [1, -2, 3.5, 1e3, true, null, "text \u00e9"], "b": {"c": {}}})");
  seeds.add("json_text", "{\n  \"version\": 1,\n  \"list\": [1, [2, [3]]]\n}\n");
  seeds.add("csv_rows", "path,label\n\"a \"\"b\"\", c.jpg\",1\r\nd.jpg,\"2\n3\"\n");
  seeds.add("utf8", "caf\xc3\xa9 \xff\xee\xbe\x80 \xf0\x9f\x90\xb1");
  seeds.add("list", "a.jpg 0\nb/c d.jpg 1\n\ne.png\n");
  seeds.add("list_mxnet", "0\t3.000000\ta.jpg\n1\t1.000000\t2.000000\tb.jpg\n");
  seeds.add("csv_table", "path,labels,split,group\na.jpg,cat|dog,train,g\nb.jpg,cat,test,\n");
  seeds.add("csv_table", "image_id;class;subset;more\n1;4;val;x\n2;5;train;y\n");
  seeds.add("food101", two("cat/1\ndog/3\n", "cat/2\n"));
  for (const char* recipe :
       {"cifar", "imagenet", "none",
        "resized_crop:area=0.2..1,ratio=0.75..1.25+flip+rand_augment:magnitude=7+erase:p=0.1",
        "crop:pad=4+alternating_flip+cutout:side=8,value=0/1/2+mixup:alpha=0.2+cutmix"}) {
    seeds.add("recipe", recipe);
  }
}

void add_idx(Seeds& seeds) {
  using namespace std::string_literals;
  const std::string labels = "\0\0\x08\x01\0\0\0\x03"s + "\x01\x02\x03"s;
  const std::string images = "\0\0\x08\x03\0\0\0\x03\0\0\0\x02\0\0\0\x02"s + "abcdefghijkl"s;
  seeds.add("idx", two(labels, images));
  const DeflateOptions gzip{.window_bits = kGzipStream};
  seeds.add("idx_gz", two(deflated(labels, gzip), deflated(images, gzip)));
  std::string records;
  for (int i = 0; i < 2; ++i) records += static_cast<char>(i) + std::string(3072, 'p');
  seeds.add("cifar", two("cat\ndog\nant\nbee\nowl\nfox\neel\nbat\nram\nyak\n", records));
  seeds.add("cifar", two("", records));
}

// A variable of a MAT-file, as MATLAB writes it.
std::string element(std::uint32_t type, const std::string& data) {
  const auto size = static_cast<std::uint32_t>(data.size());
  if (size > 0 && size <= 4) {
    return little_endian(type | size << 16) + data + std::string(4 - size, '\0');
  }
  return little_endian(type) + little_endian(size) + data + std::string((8 - size % 8) % 8, '\0');
}
std::string variable(const std::string& name, std::uint32_t kind, const std::vector<int>& sides,
                     const std::string& data) {
  std::string dimensions;
  for (const int side : sides) dimensions += little_endian<std::int32_t>(side);
  return element(14, element(6, little_endian(kind) + little_endian<std::uint32_t>(0)) +
                         element(5, dimensions) + element(1, name) + element(2, data));
}

void add_svhn(Seeds& seeds) {
  const std::string text = "MATLAB 5.0 MAT-file";
  const std::string header =
      text + std::string(124 - text.size(), ' ') + little_endian<std::uint16_t>(0x0100) + "IM";
  const std::string x = variable("X", 9, {32, 32, 3, 2}, std::string(2 * 3072, 'p'));
  const std::string y = variable("y", 6, {2, 1}, "\x01\x0a");
  const auto packed = [](const std::string& of) {
    const std::string bytes = deflated(of);
    return little_endian<std::uint32_t>(15) +
           little_endian(static_cast<std::uint32_t>(bytes.size())) + bytes;
  };
  seeds.add("svhn", header + x + y);
  seeds.add("svhn", header + packed(x) + packed(y));
}

void add_caffe(Seeds& seeds, const Folder& folder) {
  const fs::path path = folder / "caffe.mdb";
  lmdb::Writer writer(path);
  std::vector<lmdb::Writer::Entry> values;
  for (std::uint64_t i = 0; i < 3; ++i) {
    const std::string datum =
        i == 0 ? bytes_field(4, "\xff\xd8 an image") + number_field(5, 7) + number_field(7, 1)
               : number_field(1, 1) + number_field(2, 2) + number_field(3, 2) +
                     bytes_field(4, "abcd") + number_field(5, i);
    const BytesView bytes = as_bytes(datum);
    values.emplace_back(i, Bytes(bytes.begin(), bytes.end()));
    seeds.add("wire", datum);
  }
  writer.put(values);
  writer.seal();
  const Bytes file = read_file(path);
  seeds.add("caffe_lmdb", file);
  seeds.add("lmdb_structure", file);
}

void add_archives(Seeds& seeds) {
  const std::map<std::string, std::string> harness_of{
      {"photos.tar", "tar"},           {"nested.tar", "tar"},        {"photos.tar.gz", "tar_gz"},
      {"photos.tar.xz", "tar_xz"},     {"photos.tar.zst", "tar_xz"}, {"samples.tar", "webdataset"},
      {"photos.tfrecord", "tfrecord"}, {"photos.rec", "recordio"}};
  for (const MadeFile& file : sound_archives()) {
    const auto harness = harness_of.find(file.name);
    if (harness != harness_of.end()) seeds.add(harness->second, file.bytes);
  }
}

// A BigTIFF of grey pixels without compression, in strips of one row.
std::string big_tiff(std::uint64_t width, std::uint64_t height) {
  ByteWriter out;
  const std::uint64_t tables = 16 + width * height;
  const std::uint64_t directory = (tables + 16 * height + 7) / 8 * 8;
  out.put_text(std::string_view("II\x2b\0\x08\0\0\0", 8));
  out.put(directory);
  for (std::uint64_t i = 0; i < width * height; ++i) out.put(static_cast<std::uint8_t>(i * 37));
  for (std::uint64_t y = 0; y < height; ++y) out.put(16 + y * width);
  for (std::uint64_t y = 0; y < height; ++y) out.put(width);
  out.pad_to(8);
  constexpr std::uint16_t kShort = 3;
  constexpr std::uint16_t kLong8 = 16;
  struct Entry {
    std::uint16_t tag, type;
    std::uint64_t count, value;
  };
  const std::array entries{Entry{256, kShort, 1, width},
                           Entry{257, kShort, 1, height},
                           Entry{258, kShort, 1, 8},
                           Entry{259, kShort, 1, 1},
                           Entry{262, kShort, 1, 1},
                           Entry{273, kLong8, height, tables},
                           Entry{277, kShort, 1, 1},
                           Entry{278, kShort, 1, 1},
                           Entry{279, kLong8, height, tables + 8 * height}};
  out.put<std::uint64_t>(entries.size());
  for (const Entry& entry : entries) {
    out.put(entry.tag);
    out.put(entry.type);
    out.put(entry.count);
    out.put(entry.value);
  }
  out.put<std::uint64_t>(0);
  return std::string(as_text(out.bytes()));
}

void add_images(Seeds& seeds) {
  seeds.add("tiff_rows", big_tiff(20, 11));
  seeds.add("tiff", big_tiff(20, 11));
  for (const MadeFile& file : sound_images()) {
    const std::string_view format = pipeline::sniff(as_bytes(file.bytes));
    seeds.add(format, file.bytes);
    seeds.add(format == "jpeg" ? "crop" : "header", file.bytes);
    if (format == "jpeg") seeds.add("jpeg_rows", file.bytes);
    if (format == "tiff") seeds.add("tiff_rows", file.bytes);
  }
}

// A cache as an ingest makes it, of images, raw pixels and broken files.
void make_cache(const fs::path& at) {
  std::mt19937_64 random(1);
  FakeSource source;
  source.mutable_class_names() = {"cat", "dog", "bird"};
  for (int i = 0; i < 12; ++i) {
    const Image image = make_picture(random, 8 + i % 5, 9 + i % 4, i % 3 == 0 ? 1 : 3);
    const auto split = static_cast<Split>(i % kSplitCount);
    if (i % 5 == 4) {
      source.add("broken \xff", Bytes(30), split);
    } else if (i % 2 == 0) {
      source.add("raw", image, split, {i % 3}, i % 4 == 0 ? "group" : "");
    } else {
      source.add("encoded", encode_picture(image, ".png"), split, {0, 2});
    }
  }
  pipeline::IngestOptions options;
  options.shard_bytes = 1000;
  pipeline::ingest(source, "pictures", at, options, {});
}

void add_cache(Seeds& seeds, const Folder& folder) {
  using namespace pipeline;
  make_cache(folder / "cache");
  const Cache cache = Cache::open(folder / "cache");
  seeds.add("manifest", read_file(cache.paths().manifest()));
  seeds.add("ledger", read_file(cache.paths().ledger()));
  seeds.add("fingerprints", read_file(cache.paths().fingerprints()));
  for (const ShardInfo& shard : cache.manifest().shards) {
    const fs::path path = folder / "cache" / shard.file;
    seeds.add("shard", read_file(path));
    seeds.add("lmdb_structure", read_file(path));
    const lmdb::Reader reader(path);
    for (const auto& [key, value] : reader.all()) seeds.add("pack", value);
  }
  const ShardCopy copy = ShardCopy::get(folder / "cache", {.memory = folder.path()});
  std::string description = read_text(copy.folder() / "copy.json");
  const std::size_t digest = description.find(cache.digest());
  seeds.add("copy", description);
  // The digest that the harness expects
  seeds.add("copy", description.replace(digest, 32, 32, 'a'));
  seeds.add("peer_files",
            to_json({{"ledger.jsonl", 100, cache.digest()}, {"selections/a.selection", 7, "00"}}));
  const CachePaths parts{folder / "parts"};
  fs::create_directories(parts_folder(parts));
  PartWriter part(parts, "00000", "key");
  part.append(cache.read_ledger(), cache.read_fingerprints());
  Part whole;
  whole.info.block_hashes = {"0123456789abcdef"};
  whole.remarks.warned = 1;
  part.finish(whole);
  seeds.add("part", read_file(parts_folder(parts) / "00000"));
}

void add_index(Seeds& seeds, const Folder& folder) {
  using namespace dedup;
  const fs::path at = folder / "index";
  for (std::uint32_t number = 0; number < 2; ++number) {
    std::vector<TestImage> images;
    for (SampleId id = 0; id < 6; ++id) {
      images.push_back({.id = id,
                        .labels = {0},
                        .code = id / 2 * 0x0F0F + number,
                        .file = 10 * number + id,
                        .pixels = 10 * number + id / 3});
    }
    const Fingerprints table = make_table(images);
    add_to_index(
        at, {.sources = {{.name = "set" + std::to_string(number),
                          .format = "test",
                          .inputs = 6,
                          .listing_hash = to_hex(hash_of_number(number)),
                          .class_names = {"cat"},
                          .content = ""}},
             .classes = {"cat"},
             .columns = [table](const ColumnNames& names) { return select_columns(table, names); },
             .names =
                 [](const NameSink& sink) {
                   for (SampleId id = 0; id < 6; ++id) sink(id, "name " + std::to_string(id));
                 }});
    Options options;
    seeds.add("selection", serialize(deduplicate(table, options).selection));
    seeds.add("fingerprints", serialize(table));
  }
  delete_from_index(at, {.names = {}, .ids = {1, 4}, .source = std::nullopt});
  const std::map<std::string, std::string> harness_of{{".json", "index_manifest"},
                                                      {".links", "index_links"},
                                                      {".names", "index_names"},
                                                      {".dead", "index_tombstones"}};
  for (const fs::directory_entry& entry : fs::directory_iterator(at)) {
    const auto harness = harness_of.find(entry.path().extension());
    if (harness != harness_of.end()) seeds.add(harness->second, read_file(entry.path()));
  }
}

void add_reviews(Seeds& seeds) {
  using namespace dedup;
  const Hash128 a = hash_of_number(1);
  const Hash128 b = hash_of_number(2);
  std::string text = review_header();
  for (const Verdict verdict : {Verdict::kDuplicate, Verdict::kDifferent, Verdict::kNone}) {
    text += review_line({.verdict = verdict, .images = {a, b}, .names = {"a.jpg", "b\xFF.jpg"}});
  }
  text += review_line({.verdict = Verdict::kKeep, .images = {a}});
  text += review_line({.verdict = Verdict::kDrop, .images = {b}, .about = About::kImage});
  seeds.add("review", text);
  const std::array<Hash128, 2> pair{std::min(a, b), std::max(a, b)};
  text += review_line(PairSample{
      .hash = "phash",
      .threshold = 10,
      .scope = "across",
      .seed = 7,
      .certain = 3,
      .strata = {
          {.distance = 0, .classes = "same", .splits = "other", .pairs = 5, .drawn = {pair}},
          {.distance = 9, .classes = "unknown", .splits = "same", .pairs = 0, .drawn = {}}}});
  seeds.add("review", text + R"({"verdict":"unsu)");
}

void add_golden(Seeds& seeds) {
  const fs::path golden = WINNOW_GOLDEN;
  const std::pair<const char*, const char*> files[]{
      {"manifest", "v1/original/manifest.json"},
      {"manifest", "v1/raw/manifest.json"},
      {"manifest", "v2/variants/manifest.json"},
      {"ledger", "v1/original/ledger.jsonl"},
      {"fingerprints", "v1/original/fingerprints/table"},
      {"fingerprints", "v3/pictured/fingerprints/table"},
      {"selection", "v1/original/selections/golden.selection"},
      {"features", "v1/features/f16.features"},
      {"features", "v1/features/i8.features"},
      {"landmarks", "v1/landmarks/00001.landmarks"},
      {"config", "v1/run/config.json"},
      {"plan", "v1/run/plan.json"},
      {"run_state", "v1/run/checkpoints/step-2/state.json"},
      {"checkpoint", "v1/run/checkpoints/step-2/manifest.json"}};
  for (const auto& [harness, path] : files) seeds.add(harness, read_file(golden / path));
  const auto folds = [&](const char* ending) {
    return read_text(golden / "v1/folds" / (std::string("out-of-fold.") + ending));
  };
  seeds.add("out_of_fold", two(folds("npy"), two(folds("csv"), folds("json"))));
}

void add_run(Seeds& seeds, const Folder& folder) {
  using namespace train;
  seeds.add("plan", to_text(train::some_plan()));
  const std::vector<float> weights{1.5F, -2, 0.25F, 3e-30F, 5, 6};
  seeds.add("safetensors",
            to_safetensors(std::vector{make_f32("conv1.weight", {2, 3, 1, 1}, weights),
                                       make_i64("bn1.num_batches_tracked", 12)},
                           {{"format", "pt"}}));
  seeds.add(
      "metrics",
      "{\"step\": 1, \"epoch\": 0.5, \"wall\": 1.25, \"train.loss\": 2.5}\n{\"step\": 200}\n");
  for (const char* net : {"resnet20", "resnet50", "mobilenet_v2", "convnext_tiny"}) {
    seeds.add("net_file", read_file(fs::path(WINNOW_NETS) / (std::string(net) + ".toml")));
  }
  // A few bytes that ask for much.
  const std::string many =
      "stages = [{block = \"mbconv\", width = 9, depth = 1000}]\n"
      "head = [{block = \"linear\"}]\n";
  seeds.add("net_file", many);
  nlohmann::ordered_json config =
      nlohmann::ordered_json::parse(read_text(fs::path(WINNOW_GOLDEN) / "v1/run/config.json"));
  config["net"]["description"] = many;
  seeds.add("config", config.dump(2));
  // A manifest for the three files that the harness puts next to it.
  const std::string state(as_text(to_safetensors({}, {})));
  save_checkpoint(folder.path(), {.step = 2, .model = {}, .optimizer = {}, .state = state}, 1);
  const std::string manifest = read_text(folder / "step-2/manifest.json");
  seeds.add("checkpoint", manifest);
}

// Points all values to the pages of the first one.
std::string on_same_pages(const Bytes& file) {
  constexpr std::uint64_t kPage = 4096;
  std::string out(as_text(file));
  std::string first;
  lmdb::for_each_entry(file, "file", [&](BytesView key, std::uint64_t begin, std::uint64_t) {
    const std::string page = little_endian(begin / kPage);
    if (first.empty()) first = page;
    const std::string leaf = std::string(as_text(key)) + page;
    out.replace(out.find(leaf), leaf.size(), std::string(as_text(key)) + first);
  });
  return out;
}

// Former findings for which inputs/ would need a large file or a copy of a golden one.
void add_findings(Seeds& seeds, const Folder& folder) {
  const fs::path golden = WINNOW_GOLDEN;
  const std::string deep = std::string(400'000, '[') + std::string(400'000, ']');
  const std::string config = read_text(golden / "v1/run/config.json");
  const std::string state = read_text(golden / "v1/run/checkpoints/step-2/state.json");
  const auto add = [&](const char* harness, std::string text, const std::string& from,
                       const std::string& to) {
    const std::size_t at = text.find(from);
    if (at == text.npos) throw Error("what is made for " + std::string(harness) + " lacks " + from);
    seeds.add(harness, text.replace(at, from.size(), to));
  };
  add("config", config, R"("augment": "cifar")", R"("augment": )" + deep);
  add("config", config, R"("height_px": 16)", R"("height_px": 65536)");
  add("config", config, R"("height_px": 16)", R"("height_px": 1e30)");
  add("config", config, R"("micro_batch": 2)", R"("micro_batch": 1152921504606846976)");
  add("config", config, R"("holdout": 0.0)", R"("holdout": 0.0, "eval_resize_px": -5)");
  add("config", config, R"("selection": "golden")", R"("selection": "../../x")");
  add("plan", to_text(train::some_plan()), R"("micro_batch":2)", R"("micro_batch":1e30)");
  add("run_state", state, R"("step": 2)", R"("step": 1e30)");
  dedup::Selection selection = dedup::parse_selection(
      read_file(golden / "v1/original/selections/golden.selection"), "golden");
  for (const std::string& settings : {deep, R"({"hash":)" + deep + "}"}) {
    selection.settings = settings;
    seeds.add("selection", dedup::serialize(selection));
  }
  lmdb::Writer writer(folder / "pages.mdb");
  for (std::uint64_t key = 0; key < 3; ++key) writer.put({{key, Bytes(5000)}});
  writer.seal();
  seeds.add("lmdb_structure", on_same_pages(read_file(folder / "pages.mdb")));
}

void make(const fs::path& to) {
  const Folder folder;
  Seeds seeds(to);
  add_texts(seeds);
  add_idx(seeds);
  add_svhn(seeds);
  add_caffe(seeds, folder);
  add_archives(seeds);
  add_images(seeds);
  add_cache(seeds, folder);
  add_index(seeds, folder);
  add_reviews(seeds);
  add_golden(seeds);
  add_run(seeds, folder);
  add_findings(seeds, folder);
  seeds.check_all();
}

}  // namespace
}  // namespace winnow::fuzz

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "fuzz_seeds FOLDER\n";
    return 2;
  }
  try {
    winnow::fuzz::make(argv[1]);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
