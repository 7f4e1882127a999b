#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "dedup/fingerprints.h"
#include "pipeline/export/choice.h"
#include "pipeline/export/source_files.h"
#include "pipeline/store/manifest.h"
#include "pipeline/store/shard_format.h"

namespace winnow::pipeline {

// The bytes of a record as a file, and the ending of its name, ".jpg". The bytes are those of the
// record, or of `made`, which is filled where they have to be made.
struct ImageFile {
  BytesView bytes;
  std::string ending;
};
ImageFile image_file(const RecordView& record, Bytes& made);

// A sample as it is to be written.
struct ReadySample {
  RecordView record;  // for a tree: its id alone
  std::string name;   // what the source calls it
  Bytes made;
  ImageFile file;
  std::optional<std::filesystem::path> same_file;  // that holds these bytes: link to it
};

// Tars are written by libarchive (datasets/tar_file_writer.h), PNGs by libpng (decode/encode.h).
//
// Writes samples into a folder, in the order they come. Not for several threads at once; some use
// all of TBB's.
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

// export.h says what they write. `manifest` must outlive them.
std::unique_ptr<SampleWriter> make_folder_writer(std::filesystem::path root, FolderPlan plan,
                                                 Link link);
std::unique_ptr<SampleWriter> make_tree_writer(std::filesystem::path root, const Manifest& manifest,
                                               Link link);
std::unique_ptr<SampleWriter> make_webdataset_writer(std::filesystem::path root,
                                                     const Manifest& manifest,
                                                     std::uint64_t shard_bytes);

}  // namespace winnow::pipeline
