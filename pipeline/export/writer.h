#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "dedup/table/fingerprints.h"
#include "pipeline/export/choice.h"
#include "pipeline/export/source_files.h"
#include "pipeline/store/manifest.h"
#include "pipeline/store/shard_format.h"

namespace winnow::pipeline {

// The content of a record as a file, and the ending of its name, ".jpg". The bytes are those of the
// record, or of `made`, which is filled if they must be encoded.
struct ImageFile {
  BytesView bytes;
  std::string ending;
};
ImageFile image_file(const RecordView& record, Bytes& made);

// A sample ready to be written.
struct ReadySample {
  RecordView record;  // for a tree: only its id
  std::string name;   // its name in the source
  Bytes made;
  ImageFile file;
  std::optional<std::filesystem::path> same_file;  // a file with these bytes, to link to
};

// Writes samples into a folder, in the order in which they come. Not thread-safe; some writers use
// TBB's threads.
// Tar files are written by libarchive (datasets/tar_file_writer.h), PNGs by libpng
// (decode/encode.h).
class SampleWriter {
 public:
  virtual ~SampleWriter() = default;
  virtual void put(std::span<const ReadySample> samples) = 0;
  virtual void finish() {}

  std::uint64_t files() const noexcept { return files_; }
  std::uint64_t bytes() const noexcept { return bytes_; }

 protected:
  void count(std::uint64_t bytes) {
    ++files_;
    bytes_ += bytes;
  }

 private:
  std::uint64_t files_ = 0;
  std::uint64_t bytes_ = 0;
};

// Formats: see export.h. `manifest` must outlive the writers.
std::unique_ptr<SampleWriter> make_folder_writer(std::filesystem::path root, FolderPlan plan,
                                                 Link link);
std::unique_ptr<SampleWriter> make_tree_writer(std::filesystem::path root, const Manifest& manifest,
                                               Link link);
std::unique_ptr<SampleWriter> make_webdataset_writer(std::filesystem::path root,
                                                     const Manifest& manifest,
                                                     std::uint64_t shard_bytes);

}  // namespace winnow::pipeline
