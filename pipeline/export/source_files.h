#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/bytes.h"
#include "common/checksum.h"
#include "common/sample.h"
#include "pipeline/store/manifest.h"

namespace winnow::pipeline {

enum class Link { kNone, kHard, kSymbolic };

// Finds the original files of a cache's samples. Thread-safe.
class SourceFiles {
 public:
  // `folders` has one path for each source, in order; a file, such as a table, stands for its
  // folder. Throws UsageError for a wrong number of paths, for a path that is neither, or for a
  // source that does not consist of files.
  SourceFiles(const Manifest& manifest, std::vector<std::filesystem::path> folders);

  // The absolute path of the original file of a sample, by its name in the source. nullopt unless
  // it is a regular file below the source's folder whose bytes have this hash.
  std::optional<std::filesystem::path> find(SampleId id, const std::string& name,
                                            const Hash128& hash) const;
  // The bytes of the original file of a sample; nullopt as for find().
  std::optional<Bytes> read(SampleId id, const std::string& name, const Hash128& hash) const;

 private:
  std::optional<std::filesystem::path> file_of(SampleId id, const std::string& name) const;

  std::vector<std::filesystem::path> folders_;
};

// Makes a hard or symbolic link `at` to `target`. A hard link refers to the file itself even if
// `target` is a symbolic link.
// Errors  UsageError: the file system does not support links, or both are on different file
//         systems. Else SystemError.
void make_link(const std::filesystem::path& target, const std::filesystem::path& at, Link kind);

}  // namespace winnow::pipeline
