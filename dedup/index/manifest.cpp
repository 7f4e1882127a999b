#include <algorithm>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

#include "common/error.h"
#include "common/json_text.h"
#include "common/utf8.h"
#include "dedup/index/manifest_internal.h"

namespace winnow::dedup {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "winnow-index";
constexpr std::uint64_t kMostRows = std::numeric_limits<std::uint32_t>::max();  // less than that
constexpr std::array<std::string_view, 4> kEndings{".table", ".names", ".links", ".dead"};
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

// Strict reading: what is missing, or of another type, is a FormatError that names it.
class Reader {
 public:
  Reader(const Json& value, const std::string& where) : value_(value), where_(where) {
    if (!value_.is_object()) fail("it lacks an object");
  }
  [[noreturn]] void fail(const std::string& why) const {
    throw FormatError(where_ + " is damaged or not of this version (" + why +
                      "); restore it from a copy, or make the index again with winnow index add");
  }
  const Json& any(const char* field) const {
    const auto at = value_.find(field);
    if (at == value_.end()) fail(std::string("it lacks '") + field + "'");
    return *at;
  }
  std::uint64_t number(const char* field, std::uint64_t most) const {
    const Json& value = any(field);
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most) {
      fail(std::string("'") + field + "' is not a whole number up to " + std::to_string(most));
    }
    return value.get<std::uint64_t>();
  }
  std::string text(const char* field) const { return text(any(field), field); }
  std::vector<std::string> names(const char* field) const {
    std::vector<std::string> out;
    for (const Json& value : list(field)) out.push_back(from_utf8(text(value, field)));
    return out;
  }
  std::string hash(const char* field) const {
    std::string hex = text(field);
    const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
    if (hex.size() != 32 || !std::ranges::all_of(hex, is_digit)) {
      fail(std::string("'") + field + "' is not a 128-bit hash");
    }
    return hex;
  }
  const Json& list(const char* field) const {
    const Json& value = any(field);
    if (!value.is_array()) fail(std::string("'") + field + "' is not a list");
    return value;
  }
  Reader object(const char* field) const { return {any(field), where_}; }
  Reader object(const Json& value) const { return {value, where_}; }

 private:
  std::string text(const Json& value, const char* field) const {
    if (!value.is_string()) fail(std::string("'") + field + "' is not text");
    return value.get<std::string>();
  }

  const Json& value_;
  const std::string& where_;
};

// What a name begins with; at least `end` where that is not below it.
std::uint64_t number_before(std::string_view name, std::uint64_t end) {
  std::uint64_t number = 0;
  const auto [at, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc::result_out_of_range ? end : number;
}

SealedFile parse_file(const Reader& in, FileRole role, std::uint64_t next_file) {
  SealedFile file{in.text("file"), in.number("bytes", std::numeric_limits<std::uint64_t>::max()),
                  in.hash("hash")};
  const std::uint64_t number = number_before(file.name, next_file);
  // A manifest from elsewhere must not lead out of its folder.
  if (file.name != file_name(number, role) || number >= next_file) {
    in.fail("it names a file that is none of an index");
  }
  return file;
}

IndexSource parse_source(const Reader& in) {
  return {.name = from_utf8(in.text("name")),
          .format = in.text("format"),
          .inputs = in.number("inputs", std::uint64_t{1} << kPositionBits),
          .listing_hash = in.hash("listing_hash"),
          .class_names = in.names("class_names"),
          .rows = in.number("rows", kMostRows),
          .content = in.hash("content")};
}

IndexKind parse_kind(const Reader& in) {
  constexpr std::uint64_t kMostBits = 4096;
  const auto most_version = std::numeric_limits<std::uint32_t>::max();
  IndexKind kind{in.text("hash"),
                 static_cast<std::uint32_t>(in.number("hash_version", most_version)),
                 static_cast<int>(in.number("bits", kMostBits)), 0};
  if (kind.bits == 0 || kind.bits % 64 != 0) in.fail("its codes are not whole words");
  kind.radius = static_cast<int>(in.number("radius", static_cast<std::uint64_t>(kind.bits)));
  return kind;
}

void check_version(const Reader& in, const std::string& where) {
  const std::string format = in.text("format");
  if (format == "winnow-cache") {
    const std::string folder = std::filesystem::path(where).parent_path().string();
    throw UsageError(folder +
                     " is a cache, not an index; make an index of it with: winnow index "
                     "add INDEX " +
                     folder);
  }
  if (format != kFormat) in.fail("it is not the manifest of an index");
  const std::uint64_t version = in.number("version", std::numeric_limits<std::uint64_t>::max());
  if (version > kIndexVersion) {
    throw FormatError(where + " was written by a newer winnow (index version " +
                      std::to_string(version) + ", this one reads up to " +
                      std::to_string(kIndexVersion) + "); use that winnow");
  }
  if (version < 1) in.fail("'version' is below 1");
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
  const Json json = nests_deeper_than(text, kJsonLevels)
                        ? Json()
                        : Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const Reader in(json, where);
  check_version(in, where);
  if (!digest_line_matches(text)) in.fail("it does not match its digest");
  IndexManifest m;
  m.kind = parse_kind(in);
  m.classes = in.names("classes");
  m.next_file = in.number("next_file", std::numeric_limits<std::uint64_t>::max());
  for (const Json& value : in.list("sources")) m.sources.push_back(parse_source(in.object(value)));
  if (m.sources.size() > std::size_t{1} << (64 - kPositionBits)) in.fail("it has too many sources");
  for (const Json& value : in.list("segments")) {
    const Reader segment = in.object(value);
    const auto file = [&](const char* field, FileRole role) {
      return parse_file(segment.object(field), role, m.next_file);
    };
    m.segments.push_back({segment.number("rows", kMostRows - 1 - m.rows()),
                          file("table", FileRole::kTable), file("names", FileRole::kNames),
                          file("links", FileRole::kLinks)});
  }
  m.deleted = in.number("deleted", m.rows());
  if (m.deleted > 0) {
    m.tombstones = parse_file(in.object("tombstones"), FileRole::kTombstones, m.next_file);
  }
  return m;
}

std::string file_name(std::uint64_t number, FileRole role) {
  std::string digits = std::to_string(number);
  if (digits.size() < kLeastDigits) digits.insert(0, kLeastDigits - digits.size(), '0');
  return digits + std::string(kEndings[static_cast<std::size_t>(role)]);
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
