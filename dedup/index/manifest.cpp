#include <algorithm>
#include <charconv>
#include <limits>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/error.h"
#include "common/json.h"
#include "common/json_reader.h"
#include "common/json_text.h"
#include "common/utf8.h"
#include "dedup/index/manifest_internal.h"

namespace winnow::dedup {
namespace {

constexpr std::string_view kFormat = "winnow-index";
constexpr std::uint64_t kMostIndexRows =
    std::numeric_limits<std::uint32_t>::max();  // number of rows (exclusive)
constexpr std::array<std::string_view, 6> kEndings{".table", ".names",     ".links",
                                                   ".dead",  ".landmarks", ".fitted"};
constexpr std::size_t kLeastDigits = 5;

Json names_json(const std::vector<std::string>& names) {
  Json list = Json::array();
  for (const std::string& name : names) list.push_back(to_utf8(name));
  return list;
}

Json to_json(const SealedFile& file) {
  return {{"file", file.name}, {"bytes", file.bytes}, {"hash", file.hash}};
}

Json to_json(const IndexSource& source) {
  return {{"name", to_utf8(source.name)},
          {"format", source.format},
          {"inputs", source.inputs},
          {"listing_hash", source.listing_hash},
          {"rows", source.rows},
          {"content", source.content},
          {"class_names", names_json(source.class_names)}};
}

Json to_json(const Segment& segment) {
  return {{"rows", segment.rows},
          {"table", to_json(segment.table)},
          {"names", to_json(segment.names)},
          {"links", to_json(segment.links)}};
}

std::string parse_hash(const JsonReader& in) {
  std::string hex = in.text();
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (hex.size() != 32 || !std::ranges::all_of(hex, is_digit)) in.fail("is not a 128-bit hash");
  return hex;
}

std::vector<std::string> parse_names(const JsonReader& in) {
  std::vector<std::string> names = in.texts();
  for (std::string& name : names) name = from_utf8(name);
  return names;
}

// The number at the beginning of a name; a value >= `end` if there is none below it.
std::uint64_t number_before(std::string_view name, std::uint64_t end) {
  std::uint64_t number = 0;
  const auto [at, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc::result_out_of_range ? end : number;
}

SealedFile parse_file(const JsonReader& in, FileRole role, std::uint64_t next_file) {
  SealedFile file{in.at("file").text(), in.at("bytes").number(), parse_hash(in.at("hash"))};
  const std::uint64_t number = number_before(file.name, next_file);
  // A manifest from elsewhere must not refer to files outside its folder.
  if (file.name != file_name(number, role) || number >= next_file) {
    in.fail("names a file that is not a file of this index");
  }
  return file;
}

// Files are opened and hashed by segment, and memory is allocated by their rows. Both are bounded
// by the bytes that are there.
std::vector<Segment> parse_segments(const JsonReader& in, std::uint64_t next_file) {
  constexpr std::uint64_t kLeastRowBytes = sizeof(SampleId);  // in a table
  const std::vector<JsonReader> list = in.items();
  if (list.size() > kMostSegments) {
    in.fail("has " + std::to_string(list.size()) + ", over " + std::to_string(kMostSegments));
  }
  std::vector<Segment> segments;
  std::uint64_t rows = 0;
  std::set<std::string> names;
  for (const JsonReader& segment : list) {
    const auto file = [&](const char* field, FileRole role) {
      SealedFile found = parse_file(segment.at(field), role, next_file);
      if (!names.insert(found.name).second) segment.at(field).fail("names a file twice");
      return found;
    };
    SealedFile table = file("table", FileRole::kTable);
    const std::uint64_t most = std::min(kMostIndexRows - 1 - rows, table.bytes / kLeastRowBytes);
    segments.push_back({segment.at("rows").number(most), std::move(table),
                        file("names", FileRole::kNames), file("links", FileRole::kLinks)});
    rows += segments.back().rows;
  }
  return segments;
}

IndexSource parse_source(const JsonReader& in) {
  return {.name = from_utf8(in.at("name").text()),
          .format = in.at("format").text(),
          .inputs = in.at("inputs").number(std::uint64_t{1} << kPositionBits),
          .listing_hash = parse_hash(in.at("listing_hash")),
          .class_names = parse_names(in.at("class_names")),
          .rows = in.at("rows").number(kMostIndexRows),
          .content = parse_hash(in.at("content"))};
}

IndexKind parse_kind(const JsonReader& in) {
  constexpr int kMostBits = 4096;
  IndexKind kind{in.at("hash").text(), in.at("hash_version").number<std::uint32_t>(),
                 in.at("bits").number(kMostBits), 0};
  if (kind.bits == 0 || kind.bits % 64 != 0)
    in.at("bits").fail("is not a multiple of 64, from 64 up");
  kind.radius = in.at("radius").number(kind.bits);
  return kind;
}

void check_version(const JsonReader& in, const std::string& where) {
  const std::string format = in.at("format").text();
  if (format == "winnow-cache") {
    const std::string folder = std::filesystem::path(where).parent_path().string();
    throw UsageError(folder +
                     " is a cache, not an index; make an index of it with: winnow index "
                     "add INDEX " +
                     folder);
  }
  if (format != kFormat) in.fail("is not the manifest of an index");
  const std::uint64_t version = in.at("version").number();
  if (version > kIndexVersion) {
    throw FormatError(where + " was written by a newer winnow (index version " +
                      std::to_string(version) + ", this one reads up to " +
                      std::to_string(kIndexVersion) + "); use that winnow");
  }
  if (version < 1) in.at("version").fail("is below 1");
}

}  // namespace

std::uint64_t IndexManifest::rows() const noexcept {
  std::uint64_t rows = 0;
  for (const Segment& segment : segments) rows += segment.rows;
  return rows;
}

std::vector<const SealedFile*> IndexManifest::files() const {
  std::vector<const SealedFile*> files;
  for (const Segment& s : segments) files.insert(files.end(), {&s.table, &s.names, &s.links});
  if (tombstones) files.push_back(&*tombstones);
  return files;
}

std::set<std::string> IndexManifest::file_names() const {
  std::set<std::string> names;
  for (const SealedFile* file : files()) names.insert(file->name);
  for (const Segment& segment : segments) names.insert(landmarks_name(segment));
  if (!segments.empty()) names.insert(fitted_name(segments.back()));
  return names;
}

std::string to_json(const IndexManifest& m) {
  Json out;
  out["format"] = kFormat;
  out["version"] = kIndexVersion;
  out["hash"] = m.kind.hash;
  out["hash_version"] = m.kind.version;
  out["bits"] = m.kind.bits;
  out["radius"] = m.kind.radius;
  out["next_file"] = m.next_file;
  out["deleted"] = m.deleted;
  if (m.tombstones) out["tombstones"] = to_json(*m.tombstones);
  out["classes"] = names_json(m.classes);
  out["sources"] = Json::array();
  for (const IndexSource& source : m.sources) out["sources"].push_back(to_json(source));
  out["segments"] = Json::array();
  for (const Segment& segment : m.segments) out["segments"].push_back(to_json(segment));
  return with_digest_line(out.dump(2) + "\n");
}

IndexManifest parse_index_manifest(const std::string& text, const std::string& where) {
  const JsonReader in(
      text, {where, "restore it from a copy, or make the index again with winnow index add"});
  check_version(in, where);
  if (!digest_line_matches(text)) in.fail("does not match its digest");
  IndexManifest m;
  m.kind = parse_kind(in);
  m.classes = parse_names(in.at("classes"));
  m.next_file = in.at("next_file").number();
  for (const JsonReader& source : in.at("sources").items()) {
    m.sources.push_back(parse_source(source));
  }
  if (m.sources.size() > std::size_t{1} << (64 - kPositionBits)) in.fail("has too many sources");
  m.segments = parse_segments(in.at("segments"), m.next_file);
  m.deleted = in.at("deleted").number(m.rows());
  if (m.deleted > 0) {
    m.tombstones = parse_file(in.at("tombstones"), FileRole::kTombstones, m.next_file);
  }
  return m;
}

std::string file_name(std::uint64_t number, FileRole role) {
  std::string digits = std::to_string(number);
  if (digits.size() < kLeastDigits) digits.insert(0, kLeastDigits - digits.size(), '0');
  return digits + std::string(kEndings[static_cast<std::size_t>(role)]);
}

std::string landmarks_name(const Segment& segment) {
  return file_name(number_before(segment.table.name, 0), FileRole::kLandmarks);
}

std::string fitted_name(const Segment& last) {
  return file_name(number_before(last.table.name, 0), FileRole::kFitted);
}

bool is_file_of_index(std::string_view name, std::uint64_t end) {
  if (name.ends_with(".tmp")) name.remove_suffix(4);
  const std::uint64_t number = number_before(name, end);
  if (number >= end) return false;
  for (std::size_t role = 0; role < kEndings.size(); ++role) {
    if (name == file_name(number, static_cast<FileRole>(role))) return true;
  }
  return false;
}

std::filesystem::path manifest_path(const std::filesystem::path& folder) {
  return folder / "manifest.json";
}

}  // namespace winnow::dedup
