#pragma once

#include <filesystem>
#include <memory>

#include "datasets/source.h"

namespace winnow::datasets {

// True for tar shards (as tar_set.h finds them) among whose first members an image has a .cls,
// .json or .txt beside it.
bool webdataset_found_at(const std::filesystem::path& path);

// Samples in tar shards, as the webdataset library has them: neighbouring members whose paths are
// the same up to the first dot of the last part are one sample. Listed by shard, then in the order
// of the archive; compressed shards are inflated as tar.h says.
//
//   image    The first member ending as an image does, in any case; others are left out. Samples
//            without one are passed over. description() counts both. Where an image has a label of
//            its own stem beside it ("a.0.jpg", "a.0.cls"), each stem of that key is a sample.
//   labels   .cls: a number or name as text; else "label", "cls" or "class" of .json: a number, a
//            name, or a list of them. -1, nothing and null are no label. Under LabelsFrom::kNone
//            these members are not looked at.
//   classes  As class_labels.h says; named by the lines of classnames.txt or classes.txt beside the
//            shards, or beside the folders they are in.
//   splits   From the shard's folder ("train/0.tar") or a word of its name ("set-val-0001.tar");
//            then every shard must have one.
//
// Throws UsageError naming shard and member: an ending twice in a sample, a label that is none,
// text that is no JSON, shards of which some have a split, what tar_file.h says.
std::unique_ptr<Source> open_webdataset(const std::filesystem::path& path,
                                        const OpenOptions& options);

}  // namespace winnow::datasets
