#pragma once

#include <filesystem>
#include <memory>

#include "datasets/source.h"

namespace winnow::datasets {

// True for a file, or a folder with one, named *.tfrecord, *.tfrecords or *.tfrec, each also
// followed by -00000-of-00128 or .gz. Also for one named *-00000-of-00128, or a file of any name,
// that begins as a TFRecord file.
bool tfrecord_found_at(const std::filesystem::path& path);

// Reads TensorFlow's TFRecord files of tf.train.Example, uncompressed. Opening reads the lengths of
// records, and everything but the images.
//
// Features, the first existing name of each:
// - image: image/encoded, image, image_raw, encoded. An encoded image; or raw pixels (rows from the
//   top, interleaved channels) if height, width and depth (or channels) fit their number.
// - label: image/class/label, label, image/label. Numbers; those below 0 mean none.
// - class: image/class/text, class/text. Name of the class of its only label.
// - name: image/filename, filename.
//
// Classes  The labels that occur, in numeric order. ImageNet's 1 to 1000 become 0 to 999, and keep
//          their numbers as names if there is no text.
// Split    From a word of the file's name.
// Order    Train, val, test; then by file. Entries are named FILE/NAME, or FILE/00000 if the
//          Example has no safe relative name.
// Corrupt  read() verifies the record's checksum. kCorrupt: a mismatch, no Example, or no image.
// Errors   UsageError naming the file: compressed; truncated, or a wrong checksum of a length (the
//          next record cannot be found); no record has an image; some of its 128 files are missing
//          (unless empty classes are allowed); only some names contain a split.
std::unique_ptr<Source> open_tfrecord(const std::filesystem::path& path,
                                      const OpenOptions& options);

}  // namespace winnow::datasets
