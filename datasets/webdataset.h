#pragma once

#include <filesystem>
#include <memory>

#include "datasets/source.h"

namespace winnow::datasets {

// Whether `path` is a set of tar shards (tar_set.h) for the webdataset library: the first members
// include an image with a .cls, .json or .txt file beside it.
bool webdataset_found_at(const std::filesystem::path& path);

// Reads samples in tar shards, as the webdataset library does. A sample is a run of adjacent
// members whose paths are equal up to the first dot of their last part: the key.
//
// order    By shard, then archive order. Compressed shards are inflated as in tar.h.
// image    The first member with the ending of an image, ignoring case. Further images are left
//          out; samples without an image are skipped; description() counts both. If images of one
//          key have a label each, with their own longer name ("a.0.jpg", "a.0.cls"), each such name
//          is a sample.
// labels   .cls: a number or name as text; else "label", "cls" or "class" of .json: a number, a
//          name, or a list of them. -1, empty and null mean no label. Not read with
//          LabelsFrom::kNone.
// classes  As in class_labels.h. Named by the lines of classnames.txt or classes.txt beside the
//          shards, or beside their folders.
// splits   From the shard's folder ("train/0.tar") or a word of its name ("set-val-0001.tar").
//          Either all shards have a split or none.
// errors   UsageError naming shard and member: an ending twice in a sample, an invalid label,
//          invalid JSON, only some shards with a split; as tar_file.h.
std::unique_ptr<Source> open_webdataset(const std::filesystem::path& path,
                                        const OpenOptions& options);

}  // namespace winnow::datasets
