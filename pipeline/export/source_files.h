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

// Where the user's own files are that a cache was made from. Safe from many threads.
class SourceFiles {
 public:
  // A folder for each source, in their order; a file stands for the folder it lies in, as of a
  // table. UsageError when there are more or fewer, one is neither, or a source is no set of files.
  SourceFiles(const Manifest& manifest, std::vector<std::filesystem::path> folders);

  // The file that `name` of the sample's source names, if it is a regular one below its folder and
  // its bytes have this hash; an absolute path.
  std::optional<std::filesystem::path> find(SampleId id, const std::string& name,
                                            const Hash128& hash) const;
  // The bytes of that file.
  std::optional<Bytes> read(SampleId id, const std::string& name, const Hash128& hash) const;

 private:
  std::optional<std::filesystem::path> file_of(SampleId id, const std::string& name) const;

  std::vector<std::filesystem::path> folders_;
};

// A hard link is to the file itself, also where `target` is a symbolic link. UsageError where the
// file system makes no such link, or it cannot reach from one to the other; else SystemError.
void make_link(const std::filesystem::path& target, const std::filesystem::path& at, Link kind);

}  // namespace winnow::pipeline
