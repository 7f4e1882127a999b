#include "pipeline/export/source_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/error.h"
#include "common/failpoint.h"
#include "common/file.h"

namespace winnow::pipeline {
namespace fs = std::filesystem;
namespace {

constexpr std::array<std::string_view, 4> kOfFiles{"image_folder", "csv", "list", "image"};

bool stays_below(const fs::path& name) {
  if (name.empty() || name.is_absolute()) return false;
  const fs::path normal = name.lexically_normal();
  return *normal.begin() != "..";
}

}  // namespace

SourceFiles::SourceFiles(const Manifest& manifest, std::vector<fs::path> folders)
    : folders_(std::move(folders)) {
  if (folders_.size() != manifest.sources.size()) {
    throw UsageError("give --source DIR for each of the " +
                     std::to_string(manifest.sources.size()) +
                     " sources of the cache, in their order; it is given " +
                     std::to_string(folders_.size()) + " times");
  }
  for (std::size_t i = 0; i < folders_.size(); ++i) {
    const SourceInfo& source = manifest.sources[i];
    if (std::ranges::find(kOfFiles, source.format) == kOfFiles.end()) {
      throw UsageError("source '" + source.name + "' is " + source.format +
                       ": its images are not separate files, so they cannot be linked or copied; "
                       "ingest it with --store original, and leave out --source and --link");
    }
    std::error_code error;
    // A table, a list or an image: its files are in the same folder.
    if (fs::is_regular_file(folders_[i], error)) {
      folders_[i] = fs::absolute(folders_[i]).parent_path();
    }
    if (!fs::is_directory(folders_[i], error)) {
      throw UsageError("--source " + folders_[i].string() +
                       " is not a folder; name the folder that was ingested as source '" +
                       source.name + "'");
    }
    folders_[i] = fs::canonical(folders_[i]);
  }
}

std::optional<fs::path> SourceFiles::file_of(SampleId id, const std::string& name) const {
  const std::uint32_t source = source_of(id);
  if (source >= folders_.size() || !stays_below(name)) return std::nullopt;
  fs::path file = folders_[source] / name;
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return std::nullopt;
  return file;
}

std::optional<fs::path> SourceFiles::find(SampleId id, const std::string& name,
                                          const Hash128& hash) const {
  std::optional<fs::path> file = file_of(id, name);
  try {
    if (file && xxh3_128(InputFile(*file)) == hash) return file;
  } catch (const SystemError&) {  // unreadable: treated as missing
  }
  return std::nullopt;
}

std::optional<Bytes> SourceFiles::read(SampleId id, const std::string& name,
                                       const Hash128& hash) const {
  const std::optional<fs::path> file = file_of(id, name);
  try {
    if (file) {
      Bytes bytes = read_file(*file);
      if (xxh3_128(bytes) == hash) return bytes;
    }
  } catch (const SystemError&) {  // as above
  }
  return std::nullopt;
}

void make_link(const fs::path& target, const fs::path& at, Link kind) {
  const auto link = [&] {
    return kind == Link::kHard
               ? ::linkat(AT_FDCWD, target.c_str(), AT_FDCWD, at.c_str(), AT_SYMLINK_FOLLOW)
               : ::symlink(target.c_str(), at.c_str());
  };
  const bool refused = fault_before("link.create", at);
  const bool made = !refused && link() == 0;
  if (!made && !refused && errno == EXDEV) {
    throw UsageError("hard links are not possible from " + at.parent_path().string() + " to " +
                     target.string() +
                     " on another file system; export there, or use --link symbolic, or copies "
                     "without --link");
  }
  if (!made && !refused && (errno == EPERM || errno == EMLINK)) {
    throw UsageError("the file system makes no " +
                     std::string(kind == Link::kHard ? "hard" : "symbolic") + " link to " +
                     target.string() + " (" + std::generic_category().message(errno) +
                     "); leave out --link to make copies");
  }
  if (!made) throw_errno("cannot make the link " + at.string());
  fault_after("link.create", at);
}

}  // namespace winnow::pipeline
