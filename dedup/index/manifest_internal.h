#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "dedup/index/index.h"

namespace winnow::dedup {

inline constexpr int kIndexVersion = 1;
inline constexpr std::size_t kMostSegments = 64;  // before an addition makes one of them

// A file of an index, by what it was when it was written.
struct SealedFile {
  std::string name;
  std::uint64_t bytes = 0;
  std::string hash;  // XXH3-128
};

// What one addition put there. Rows of an index are numbered through its segments, dead or alive.
struct Segment {
  std::uint64_t rows = 0;
  SealedFile table;
  SealedFile names;
  SealedFile links;
};

struct IndexManifest {
  IndexKind kind;
  std::vector<std::string> classes;
  std::vector<IndexSource> sources;
  std::vector<Segment> segments;
  std::uint64_t deleted = 0;
  std::optional<SealedFile> tombstones;  // where any are deleted
  std::uint64_t next_file = 0;           // number of no file yet

  std::uint64_t rows() const noexcept;
  std::vector<const SealedFile*> files() const;
  // Of all that may be there, landmarks and what is fitted too.
  std::set<std::string> file_names() const;
};

// JSON text with a digest line (common/json_text.h). Equal manifests, equal text.
std::string to_json(const IndexManifest& manifest);
// UsageError for that of a cache; FormatError naming `where` for a newer version, and for anything
// that to_json cannot have written of a sound index.
IndexManifest parse_index_manifest(const std::string& text, const std::string& where);

// Landmarks are of the table of the same number, what is fitted of all up to that table. They are
// made when they are first asked for, and again where they are lost, so no manifest names them.
enum class FileRole { kTable, kNames, kLinks, kTombstones, kLandmarks, kFitted };
std::string file_name(std::uint64_t number, FileRole role);
std::string landmarks_name(const Segment& segment);
std::string fitted_name(const Segment& last);
// Whether an index may have made a file of that name, or the beginning of one, with a number below
// `end`.
bool is_file_of_index(std::string_view name,
                      std::uint64_t end = std::numeric_limits<std::uint64_t>::max());

std::filesystem::path manifest_path(const std::filesystem::path& folder);

}  // namespace winnow::dedup
