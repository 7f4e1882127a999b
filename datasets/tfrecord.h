#pragma once

#include <filesystem>
#include <memory>

#include "datasets/source.h"

namespace winnow::datasets {

// Whether `path` is a TFRecord file, or a folder with one:
// - by its name: *.tfrecord, *.tfrecords or *.tfrec, perhaps followed by -00000-of-00128 or .gz
// - by its first bytes, if its name is *-00000-of-00128, or if `path` is a file
bool tfrecord_found_at(const std::filesystem::path& path);

// Reads TensorFlow's TFRecord files of tf.train.Example, uncompressed. Opening reads the lengths of
// records, and everything but the images.
//
// Features of an Example; for each purpose the first that exists is used:
// - image: image/encoded, image, image_raw, encoded. An encoded image; or raw pixels (rows from the
//   top, interleaved channels) if height, width and depth (or channels) fit their number.
// - label: image/class/label, label, image/label. Numbers; those below 0 mean none.
// - class: image/class/text, class/text. Name of the class, if there is one label.
// - name: image/filename, filename.
//
// Classes  The labels that occur, in numeric order. ImageNet's 1 to 1000 become 0 to 999, and keep
//          their numbers as names if there is no text.
// Split    From a word of the file's name.
// Order    Train, val, test; then by file. Images are named FILE/NAME, or FILE/00000 if the Example
//          has no safe relative name.
// Corrupt  read() verifies the record's checksum. kCorrupt: a mismatch, no Example, or no image.
// Errors   UsageError naming the file: compressed; truncated, or a wrong checksum of a length (the
//          next record cannot be found); no record has an image; some of the files
//          NAME-00000-of-00128 are missing (unless empty classes are allowed); only some names
//          contain a split.
std::unique_ptr<Source> open_tfrecord(const std::filesystem::path& path,
                                      const OpenOptions& options);

}  // namespace winnow::datasets
