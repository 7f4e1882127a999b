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

// The content of a record as an image file, and its extension, ".jpg". The bytes are those of the
// record, or of `made`, into which pixels are encoded if need be.
struct ImageFile {
  BytesView bytes;
  std::string ending;
};
ImageFile image_file(const RecordView& record, Bytes& made);

// A sample that is ready to be written.
struct ReadySample {
  RecordView record;  // record of the sample; for a tree only the id is set
  std::string name;   // name of the sample in its source
  Bytes made;
  ImageFile file;
  // A file that has the same bytes as the sample, to which a link can be made.
  std::optional<std::filesystem::path> same_file;
};

// Writes samples of an export into a folder, in the order in which they come. Not thread-safe; some
// writers use TBB's threads. Tar files are written by libarchive (datasets/tar_file_writer.h), PNGs
// by libpng (decode/encode.h).
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

// Writers for the formats of an export, see export.h. `manifest` must outlive them.
std::unique_ptr<SampleWriter> make_folder_writer(std::filesystem::path root, FolderPlan plan,
                                                 Link link);
std::unique_ptr<SampleWriter> make_tree_writer(std::filesystem::path root, const Manifest& manifest,
                                               Link link);
std::unique_ptr<SampleWriter> make_webdataset_writer(std::filesystem::path root,
                                                     const Manifest& manifest,
                                                     std::uint64_t shard_bytes);

}  // namespace winnow::pipeline
