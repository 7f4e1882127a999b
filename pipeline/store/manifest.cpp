#include "pipeline/store/manifest.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

#include "common/error.h"
#include "common/json_text.h"
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
  Json splits = Json::object();
  for (int i = 0; i < kSplitCount; ++i) {
    splits[std::string(split_name(static_cast<Split>(i)))] =
        m.split_counts[static_cast<std::size_t>(i)];
  }
  Json out;
  out["format"] = kFormat;
  out["version"] = kManifestVersion;
  out["store"] = m.store;
  out["settings"] =
      m.settings.empty() ? Json() : parse_json(m.settings, "the settings of a manifest");
  out["inputs"] = m.inputs;
  out["ledger"] = m.ledger;
  out["split_counts"] = std::move(splits);
  out["channels"] = m.channels;
  out["height_px"] = m.height_px;
  out["width_px"] = m.width_px;
  out["pixel_sums"] = to_json(m.pixel_sums);
  if (m.tally) {
    out["tally"] = {{"rgb_images", m.tally->rgb_images},
                    {"train", to_json(m.tally->train)},
                    {"rest", to_json(m.tally->rest)}};
  }
  if (m.statistics) out["statistics"] = to_json(*m.statistics);
  out["hashes"] = m.hashes;
  out["fingerprints_hash"] = m.fingerprints_hash;
  out["ledger_hash"] = m.ledger_hash;
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

std::string parse_hash(const JsonObject& in, const char* field) {
  std::string text = in.text(field);
  if (!is_hex(text, 32)) in.fail(std::string("'") + field + "' is not a 128-bit hash");
  return text;
}

std::vector<std::string> parse_names(const JsonObject& in, const char* field) {
  std::vector<std::string> out = in.texts(field);
  for (std::string& name : out) name = from_utf8(name);
  return out;
}

SourceInfo parse_source(const JsonObject& in) {
  return {.name = from_utf8(in.text("name")),
          .format = in.text("format"),
          .inputs = in.number_to("inputs", std::uint64_t{1} << kPositionBits),
          .listing_hash = parse_hash(in, "listing_hash"),
          .class_names = parse_names(in, "class_names")};
}

// A name inside the shards folder: a manifest from elsewhere must not lead out of its cache.
bool is_shard_file(std::string_view file) {
  if (!file.starts_with(kShardFolder)) return false;
  file.remove_prefix(kShardFolder.size());
  return !file.empty() && file.front() != '.' && file.find('/') == std::string_view::npos &&
         file.find('\0') == std::string_view::npos;
}

ShardInfo parse_shard(const JsonObject& in) {
  ShardInfo shard{.file = in.text("file"),
                  .first_id = in.number("first_id"),
                  .last_id = in.number("last_id"),
                  .records = in.number("records"),
                  .bytes = in.number("bytes"),
                  .block_hashes = in.texts("block_hashes")};
  if (!is_shard_file(shard.file)) in.fail("'file' is not a file of the shards folder");
  if (shard.last_id < shard.first_id) in.fail("its ids do not ascend");
  if (shard.records > shard.last_id - shard.first_id + 1) in.fail("it has more records than ids");
  const std::uint64_t blocks = shard.bytes / kBlockBytes + (shard.bytes % kBlockBytes != 0);
  if (shard.block_hashes.size() != blocks) in.fail("'block_hashes' does not fit its size");
  for (const std::string& hash : shard.block_hashes) {
    if (!is_hex(hash, 16)) in.fail("'block_hashes' has what is no 64-bit hash");
  }
  return shard;
}

PixelSums parse_sums(const JsonObject& in) {
  PixelSums sums;
  sums.pixels = in.number_to("pixels", kMost / (255 * 255));
  const auto sum = in.numbers("sum", 3);
  const auto squares = in.numbers("sum_of_squares", 3);
  std::copy(sum.begin(), sum.end(), sums.sum.begin());
  std::copy(squares.begin(), squares.end(), sums.sum_of_squares.begin());
  return sums;
}

Tally::Part parse_part(const JsonObject& in) {
  return {.gray = parse_sums(in.object("gray")), .rgb = parse_sums(in.object("rgb"))};
}

// After the fields that follow from it.
Tally parse_tally(const JsonObject& in, const Manifest& m) {
  Tally tally;
  tally.images = m.split_counts;
  tally.rgb_images = in.number("rgb_images");
  const auto side = [&](int px) { return px == 0 && tally.total() > 0 ? -1 : px; };
  tally.height_px = side(m.height_px);
  tally.width_px = side(m.width_px);
  tally.train = parse_part(in.object("train"));
  tally.rest = parse_part(in.object("rest"));
  if (tally.rgb_images > tally.total() || tally.channels() != m.channels ||
      tally.pixel_sums() != m.pixel_sums) {
    in.fail("'tally' is not what the other fields follow from");
  }
  return tally;
}

// Sums that a damaged file could make wrap round are compared by subtraction.
bool adds_up(const auto& counts, std::uint64_t total) {
  for (const std::uint64_t count : counts) {
    if (count > total) return false;
    total -= count;
  }
  return total == 0;
}

void check_totals(const Manifest& m, const JsonObject& in) {
  std::vector<std::uint64_t> fates;
  for (const auto& [name, count] : m.ledger) fates.push_back(count);
  if (!adds_up(fates, m.inputs)) in.fail("the classes of 'ledger' do not add up to 'inputs'");
  std::vector<std::uint64_t> inputs;
  for (const SourceInfo& source : m.sources) inputs.push_back(source.inputs);
  if (!adds_up(inputs, m.inputs)) in.fail("the sources do not add up to 'inputs'");
  const std::uint64_t readable = m.ledger.at("ok");
  if (!adds_up(m.split_counts, readable)) in.fail("'split_counts' does not add up to the readable");
  std::vector<std::uint64_t> records;
  for (const ShardInfo& shard : m.shards) records.push_back(shard.records);
  if (!adds_up(records, m.store == "none" ? 0 : readable)) {
    in.fail("the records of the shards do not add up to the readable inputs");
  }
  for (std::size_t i = 1; i < m.shards.size(); ++i) {
    if (m.shards[i].first_id <= m.shards[i - 1].last_id) in.fail("the ids of shards overlap");
  }
  if (m.statistics && !m.statistics->agrees_with(m.split_counts)) {
    in.fail("'statistics' does not add up to 'split_counts'");
  }
  // Memory for batches is asked for by the side of the images. Sums may be of a scale of an image,
  // and images may be stored larger than they came: so much more they are never.
  constexpr int kMostMore = 10;  // a power of two
  const auto area =
      static_cast<std::uint64_t>(m.height_px) * static_cast<std::uint64_t>(m.width_px);
  const std::uint64_t counted = m.pixel_sums.pixels;
  if (counted > 0 && area >> kMostMore > counted) {
    in.fail("'height_px' and 'width_px' are of larger images than 'pixel_sums' has pixels of");
  }
}

Manifest parse_fields(const JsonObject& in) {
  constexpr auto kMostSide = static_cast<std::uint64_t>(std::numeric_limits<int>::max());
  Manifest m;
  m.store = in.text("store");
  if (m.store != "original" && m.store != "raw" && m.store != "none") in.fail("unknown 'store'");
  if (!in.any("settings").is_null()) m.settings = in.any("settings").dump();
  m.inputs = in.number("inputs");
  const JsonObject ledger = in.object("ledger");
  for (const auto& [name, count] : by_name({})) m.ledger[name] = ledger.number(name.c_str());
  const std::string duplicate(fate_name(Fate::kDuplicate));
  if (ledger.has(duplicate.c_str())) m.ledger[duplicate] = ledger.number(duplicate.c_str());
  if (ledger.raw().size() != m.ledger.size()) in.fail("'ledger' has an unknown class");
  const JsonObject splits = in.object("split_counts");
  for (int i = 0; i < kSplitCount; ++i) {
    m.split_counts[static_cast<std::size_t>(i)] =
        splits.number(std::string(split_name(static_cast<Split>(i))).c_str());
  }
  m.channels = static_cast<int>(in.number_to("channels", 3));
  if (m.channels == 2) in.fail("'channels' is neither 1 nor 3");
  m.height_px = static_cast<int>(in.number_to("height_px", kMostSide));
  m.width_px = static_cast<int>(in.number_to("width_px", kMostSide));
  m.pixel_sums = parse_sums(in.object("pixel_sums"));
  if (in.has("tally")) m.tally = parse_tally(in.object("tally"), m);
  m.hashes = in.texts("hashes");
  m.fingerprints_hash = parse_hash(in, "fingerprints_hash");
  m.ledger_hash = parse_hash(in, "ledger_hash");
  m.classes = parse_names(in, "classes");
  for (const JsonObject& source : in.objects("sources")) m.sources.push_back(parse_source(source));
  for (const JsonObject& shard : in.objects("shards")) m.shards.push_back(parse_shard(shard));
  if (in.has("statistics")) {
    m.statistics = parse_statistics(in.object("statistics"), m.classes.size());
  }
  check_totals(m, in);
  return m;
}

void check_version(const JsonObject& in, const std::string& where) {
  const std::string format = in.text("format");
  if (format == "winnow-index") {
    throw UsageError(std::filesystem::path(where).parent_path().string() +
                     " is an index of fingerprints, not a cache; winnow index --help tells what "
                     "can be done with it");
  }
  if (format != kFormat) in.fail("it is not the manifest of a winnow cache");
  const std::uint64_t version = in.number("version");
  if (version > kManifestVersion) {
    throw FormatError(where + " was written by a newer winnow (manifest version " +
                      std::to_string(version) + ", this one reads up to " +
                      std::to_string(kManifestVersion) + "); use that winnow, or ingest again");
  }
  if (version < 1) in.fail("'version' is below 1");
}

void check_digest(std::string_view text, const std::string& where) {
  if (!digest_line_matches(text)) {
    throw FormatError(where +
                      " does not match its digest: it is damaged or was edited; restore it "
                      "or ingest again");
  }
}

}  // namespace

std::array<double, 3> Manifest::mean() const {
  std::array<double, 3> out{};
  if (pixel_sums.pixels == 0) return out;
  for (std::size_t c = 0; c < 3; ++c) {
    out[c] =
        static_cast<double>(pixel_sums.sum[c]) / (255.0 * static_cast<double>(pixel_sums.pixels));
  }
  return out;
}

std::array<double, 3> Manifest::deviation() const {
  std::array<double, 3> out{};
  if (pixel_sums.pixels == 0) return out;
  // n * sum(x^2) - sum(x)^2 in 128 bits: exact, where the difference of two doubles would not be.
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

void set_tally(Manifest& manifest, const Tally& tally) {
  manifest.tally = tally;
  manifest.split_counts = tally.images;
  manifest.channels = tally.channels();
  manifest.height_px = std::max(0, tally.height_px);
  manifest.width_px = std::max(0, tally.width_px);
  manifest.pixel_sums = tally.pixel_sums();
}

std::string to_json(const Manifest& manifest) { return with_digest_line(body(manifest)); }

Manifest parse_manifest(const std::string& text, const std::string& where) {
  const JsonObject in(parse_json(text, where), where);
  check_version(in, where);
  check_digest(text, where);
  return parse_fields(in);
}

std::string digest(const Manifest& manifest) { return digest_of_json(body(manifest)); }

}  // namespace winnow::pipeline
