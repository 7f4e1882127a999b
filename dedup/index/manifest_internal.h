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
// If an addition would make more, all segments are merged.
inline constexpr std::size_t kMostSegments = 64;

// A file of an index, with its size and hash when written.
struct SealedFile {
  std::string name;
  std::uint64_t bytes = 0;
  std::string hash;  // XXH3-128
};

// A segment: the files of one addition. Rows of an index are numbered across its segments, live or
// deleted.
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
  std::optional<SealedFile> tombstones;  // if any are deleted
  std::uint64_t next_file = 0;           // number for the next new file

  std::uint64_t rows() const noexcept;
  std::vector<const SealedFile*> files() const;
  // The names of all files that may exist, with landmarks and fitted model.
  std::set<std::string> file_names() const;
};

// The manifest as JSON text with a digest line (common/json_text.h). Equal manifests give equal
// text.
std::string to_json(const IndexManifest& manifest);
// Parses a manifest.
// Errors  UsageError for the manifest of a cache; FormatError naming `where` for a newer version,
//         and for anything that to_json() cannot have written for a sound index.
IndexManifest parse_index_manifest(const std::string& text, const std::string& where);

// Names of files that are no part of a manifest: landmarks belong to the table of the same number,
// a fitted model to all tables up to that number. They are made on first use, and again if lost.
enum class FileRole { kTable, kNames, kLinks, kTombstones, kLandmarks, kFitted };
std::string file_name(std::uint64_t number, FileRole role);
std::string landmarks_name(const Segment& segment);
std::string fitted_name(const Segment& last);
// Whether an index may have created a file of that name, complete or partial, with a number below
// `end`.
bool is_file_of_index(std::string_view name,
                      std::uint64_t end = std::numeric_limits<std::uint64_t>::max());

std::filesystem::path manifest_path(const std::filesystem::path& folder);

}  // namespace winnow::dedup
