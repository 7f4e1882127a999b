#include "pipeline/store/manifest.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

#include "common/error.h"
#include "common/json_reader.h"
#include "common/json_text.h"
#include "common/utf8.h"
#include "pipeline/store/json_internal.h"
#include "pipeline/store/ledger.h"

namespace winnow::pipeline {
namespace {

constexpr std::string_view kFormat = "winnow-cache";
constexpr std::string_view kShardFolder = "shards/";
constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

template <class Values, class Function>
Json list_of(const Values& values, Function function) {
  Json list = Json::array();
  for (const auto& value : values) list.push_back(function(value));
  return list;
}

Json names(const std::vector<std::string>& values) { return list_of(values, to_utf8); }

Json to_json(const SourceInfo& source) {
  return {{"name", to_utf8(source.name)},
          {"format", source.format},
          {"inputs", source.inputs},
          {"listing_hash", source.listing_hash},
          {"class_names", names(source.class_names)}};
}

Json to_json(const ShardInfo& shard) {
  return {{"file", shard.file},       {"first_id", shard.first_id},
          {"last_id", shard.last_id}, {"records", shard.records},
          {"bytes", shard.bytes},     {"block_hashes", shard.block_hashes}};
}

Json to_json(const PixelSums& sums) {
  return {{"pixels", sums.pixels}, {"sum", sums.sum}, {"sum_of_squares", sums.sum_of_squares}};
}

Json to_json(const Tally::Part& part) {
  return {{"gray", to_json(part.gray)}, {"rgb", to_json(part.rgb)}};
}

// The manifest without its digest line.
std::string body(const Manifest& m) {
  const ImageSummary& images = m.images;
  Json splits = Json::object();
  for (int i = 0; i < kSplitCount; ++i) {
    splits[std::string(split_name(static_cast<Split>(i)))] =
        images.split_counts[static_cast<std::size_t>(i)];
  }
  Json out;
  out["format"] = kFormat;
  out["version"] = kManifestVersion;
  out["store"] = m.store;
  out["settings"] = to_json(m.settings);
  out["inputs"] = m.inputs.total;
  out["ledger"] = m.inputs.by_fate;
  out["split_counts"] = std::move(splits);
  out["channels"] = images.channels;
  out["height_px"] = images.height_px;
  out["width_px"] = images.width_px;
  out["pixel_sums"] = to_json(images.pixel_sums);
  if (images.tally) {
    out["tally"] = {{"rgb_images", images.tally->rgb_images},
                    {"train", to_json(images.tally->train)},
                    {"rest", to_json(images.tally->rest)}};
  }
  if (images.statistics) out["statistics"] = to_json(*images.statistics);
  out["hashes"] = m.tables.hashes;
  out["fingerprints_hash"] = m.tables.fingerprints_hash;
  out["ledger_hash"] = m.tables.ledger_hash;
  out["classes"] = names(m.classes);
  const auto object = [](const auto& value) { return to_json(value); };
  out["sources"] = list_of(m.sources, object);
  out["shards"] = list_of(m.shards, object);
  return out.dump(2) + "\n";
}

bool is_hex(const std::string& text, std::size_t digits) {
  return text.size() == digits && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

std::string parse_hash(const JsonReader& in) {
  std::string text = in.text();
  if (!is_hex(text, 32)) in.fail("is not a 128-bit hash");
  return text;
}

std::vector<std::string> parse_names(const JsonReader& in) {
  std::vector<std::string> out = in.texts();
  for (std::string& name : out) name = from_utf8(name);
  return out;
}

SourceInfo parse_source(const JsonReader& in) {
  return {.name = from_utf8(in.at("name").text()),
          .format = in.at("format").text(),
          .inputs = in.at("inputs").number(std::uint64_t{1} << kPositionBits),
          .listing_hash = parse_hash(in.at("listing_hash")),
          .class_names = parse_names(in.at("class_names"))};
}

// A name inside the shards folder: a manifest from elsewhere must not refer to files outside its
// cache.
bool is_shard_file(std::string_view file) {
  if (!file.starts_with(kShardFolder)) return false;
  file.remove_prefix(kShardFolder.size());
  return !file.empty() && file.front() != '.' && file.find('/') == std::string_view::npos &&
         file.find('\0') == std::string_view::npos;
}

ShardInfo parse_shard(const JsonReader& in) {
  ShardInfo shard{.file = in.at("file").text(),
                  .first_id = in.at("first_id").number(),
                  .last_id = in.at("last_id").number(),
                  .records = in.at("records").number(),
                  .bytes = in.at("bytes").number(),
                  .block_hashes = in.at("block_hashes").texts()};
  if (!is_shard_file(shard.file)) in.at("file").fail("is not a file of the shards folder");
  if (shard.last_id < shard.first_id) in.fail("has ids that do not ascend");
  if (shard.records > shard.last_id - shard.first_id + 1) in.fail("has more records than ids");
  const std::uint64_t blocks = shard.bytes / kBlockBytes + (shard.bytes % kBlockBytes != 0);
  const JsonReader hashes = in.at("block_hashes");
  if (shard.block_hashes.size() != blocks)
    hashes.fail("has another number of hashes than the size of the shard needs");
  for (const std::string& hash : shard.block_hashes) {
    if (!is_hex(hash, 16)) hashes.fail("has an element that is not a 64-bit hash");
  }
  return shard;
}

PixelSums parse_sums(const JsonReader& in) {
  PixelSums sums;
  sums.pixels = in.at("pixels").number(kMost / (255 * 255));
  std::ranges::copy(in.at("sum").numbers(3), sums.sum.begin());
  std::ranges::copy(in.at("sum_of_squares").numbers(3), sums.sum_of_squares.begin());
  return sums;
}

Tally::Part parse_part(const JsonReader& in) {
  return {.gray = parse_sums(in.at("gray")), .rgb = parse_sums(in.at("rgb"))};
}

// Called after the fields derived from it.
Tally parse_tally(const JsonReader& in, const ImageSummary& images) {
  Tally tally;
  tally.images = images.split_counts;
  tally.rgb_images = in.at("rgb_images").number();
  const auto side = [&](int px) { return px == 0 && tally.total() > 0 ? -1 : px; };
  tally.height_px = side(images.height_px);
  tally.width_px = side(images.width_px);
  tally.train = parse_part(in.at("train"));
  tally.rest = parse_part(in.at("rest"));
  if (tally.rgb_images > tally.total() || tally.channels() != images.channels ||
      tally.pixel_sums() != images.pixel_sums) {
    in.fail("does not agree with the other fields");
  }
  return tally;
}

// Compares by subtraction, because sums from a damaged file could overflow.
bool adds_up(const auto& counts, std::uint64_t total) {
  for (const std::uint64_t count : counts) {
    if (count > total) return false;
    total -= count;
  }
  return total == 0;
}

void check_inputs(const Manifest& m, const JsonReader& in) {
  std::vector<std::uint64_t> fates;
  for (const auto& [name, count] : m.inputs.by_fate) fates.push_back(count);
  if (!adds_up(fates, m.inputs.total))
    in.at("ledger").fail("has counts that do not add up to 'inputs'");
  std::vector<std::uint64_t> inputs;
  for (const SourceInfo& source : m.sources) inputs.push_back(source.inputs);
  if (!adds_up(inputs, m.inputs.total))
    in.at("sources").fail("has inputs that do not add up to 'inputs'");
}

void check_shards(const Manifest& m, const JsonReader& in) {
  std::vector<std::uint64_t> records;
  for (const ShardInfo& shard : m.shards) records.push_back(shard.records);
  if (!adds_up(records, m.store == "none" ? 0 : m.inputs.by_fate.at("ok"))) {
    in.at("shards").fail("has records that do not add up to the readable inputs");
  }
  for (std::size_t i = 1; i < m.shards.size(); ++i) {
    if (m.shards[i].first_id <= m.shards[i - 1].last_id) in.at("shards").fail("has ids twice");
  }
}

void check_images(const Manifest& m, const JsonReader& in) {
  const ImageSummary& images = m.images;
  if (!adds_up(images.split_counts, m.inputs.by_fate.at("ok"))) {
    in.at("split_counts").fail("has counts that do not add up to the readable inputs");
  }
  if (images.statistics && !images.statistics->agrees_with(images.split_counts)) {
    in.at("statistics").fail("has counts that do not add up to 'split_counts'");
  }
  // Memory for batches is allocated by the size of the images. Sums may come from scaled images,
  // and images may be stored larger than they came, but never by more than this factor.
  constexpr int kMostMore = 10;  // a power of two
  const auto area =
      static_cast<std::uint64_t>(images.height_px) * static_cast<std::uint64_t>(images.width_px);
  const std::uint64_t counted = images.pixel_sums.pixels;
  if (counted > 0 && area >> kMostMore > counted) {
    in.fail(
        "has a 'height_px' and a 'width_px' that are too large for the pixels counted in "
        "'pixel_sums'");
  }
}

InputCounts parse_inputs(const JsonReader& in) {
  InputCounts inputs{.total = in.at("inputs").number(), .by_fate = {}};
  const JsonReader ledger = in.at("ledger");
  for (const auto& [name, count] : by_name({})) inputs.by_fate[name] = ledger.at(name).number();
  const std::string duplicate(fate_name(Fate::kDuplicate));
  if (const auto count = ledger.find(duplicate)) inputs.by_fate[duplicate] = count->number();
  if (ledger.members().size() != inputs.by_fate.size()) ledger.fail("has an unknown class");
  return inputs;
}

ImageSummary parse_images(const JsonReader& in, std::size_t classes) {
  ImageSummary images;
  const JsonReader splits = in.at("split_counts");
  for (int i = 0; i < kSplitCount; ++i) {
    images.split_counts[static_cast<std::size_t>(i)] =
        splits.at(split_name(static_cast<Split>(i))).number();
  }
  images.channels = in.at("channels").number(3);
  if (images.channels == 2) in.at("channels").fail("is neither 1 nor 3");
  images.height_px = in.at("height_px").number<int>();
  images.width_px = in.at("width_px").number<int>();
  images.pixel_sums = parse_sums(in.at("pixel_sums"));
  if (const auto tally = in.find("tally")) images.tally = parse_tally(*tally, images);
  if (const auto value = in.find("statistics"))
    images.statistics = parse_statistics(*value, classes);
  return images;
}

Manifest parse_fields(const JsonReader& in) {
  Manifest m;
  m.store = in.at("store").text();
  if (m.store != "original" && m.store != "raw" && m.store != "none") {
    in.at("store").fail("has a value that this winnow does not know");
  }
  m.settings = parse_settings(in.at("settings"));
  m.inputs = parse_inputs(in);
  m.classes = parse_names(in.at("classes"));
  m.images = parse_images(in, m.classes.size());
  m.tables = {.hashes = in.at("hashes").texts(),
              .fingerprints_hash = parse_hash(in.at("fingerprints_hash")),
              .ledger_hash = parse_hash(in.at("ledger_hash"))};
  for (const JsonReader& source : in.at("sources").items()) {
    m.sources.push_back(parse_source(source));
  }
  for (const JsonReader& shard : in.at("shards").items()) m.shards.push_back(parse_shard(shard));
  check_inputs(m, in);
  check_images(m, in);
  check_shards(m, in);
  return m;
}

void check_version(const JsonReader& in, const std::string& where) {
  const std::string format = in.at("format").text();
  if (format == "winnow-index") {
    throw UsageError(std::filesystem::path(where).parent_path().string() +
                     " is an index of fingerprints, not a cache; see winnow index --help");
  }
  if (format != kFormat) in.fail("is not the manifest of a winnow cache");
  const std::uint64_t version = in.at("version").number();
  if (version > kManifestVersion) {
    throw FormatError(where + " was written by a newer winnow (manifest version " +
                      std::to_string(version) + ", this one reads up to " +
                      std::to_string(kManifestVersion) + "); use that winnow, or ingest again");
  }
  if (version < 1) in.at("version").fail("is below 1");
}

void check_digest(std::string_view text, const std::string& where) {
  if (!digest_line_matches(text)) {
    throw FormatError(where +
                      " does not match its digest: it is damaged or was edited; restore it "
                      "or ingest again");
  }
}

}  // namespace

std::array<double, 3> ImageSummary::mean() const {
  std::array<double, 3> out{};
  if (pixel_sums.pixels == 0) return out;
  for (std::size_t c = 0; c < 3; ++c) {
    out[c] =
        static_cast<double>(pixel_sums.sum[c]) / (255.0 * static_cast<double>(pixel_sums.pixels));
  }
  return out;
}

std::array<double, 3> ImageSummary::deviation() const {
  std::array<double, 3> out{};
  if (pixel_sums.pixels == 0) return out;
  // n * sum(x^2) - sum(x)^2 in 128 bits: exact, unlike a difference of doubles.
  __extension__ using Wide = unsigned __int128;
  const Wide n = pixel_sums.pixels;
  for (std::size_t c = 0; c < 3; ++c) {
    const Wide squares = n * pixel_sums.sum_of_squares[c];
    const Wide square = Wide{pixel_sums.sum[c]} * pixel_sums.sum[c];
    const double spread = squares > square ? static_cast<double>(squares - square) : 0.0;
    out[c] = std::sqrt(spread) / (255.0 * static_cast<double>(pixel_sums.pixels));
  }
  return out;
}

ImageSummary summary_of(const Tally& tally, std::optional<Statistics> statistics) {
  return {.split_counts = tally.images,
          .channels = tally.channels(),
          .height_px = std::max(0, tally.height_px),
          .width_px = std::max(0, tally.width_px),
          .pixel_sums = tally.pixel_sums(),
          .tally = tally,
          .statistics = std::move(statistics)};
}

std::string to_json(const Manifest& manifest) { return with_digest_line(body(manifest)); }

Manifest parse_manifest(const std::string& text, const std::string& where) {
  const JsonReader in(text, {where, "restore it or ingest again"});
  check_version(in, where);
  check_digest(text, where);
  return parse_fields(in);
}

std::string digest(const Manifest& manifest) { return digest_of_json(body(manifest)); }

}  // namespace winnow::pipeline
