#pragma once

#include <filesystem>
#include <memory>

#include "datasets/source.h"

namespace winnow::datasets {

// True for a file, or a folder that holds one, named *.tfrecord, *.tfrecords or *.tfrec, each also
// with -00000-of-00128 or .gz behind it; and for one named *-00000-of-00128 alone, or a file of any
// name, that begins as a TFRecord file does.
bool tfrecord_found_at(const std::filesystem::path& path);

// TensorFlow's TFRecord files of tf.train.Example, uncompressed. Of an Example it takes, the first
// of each that is there,
//   image   image/encoded, image, image_raw, encoded: an encoded image; bare pixels, rows from the
//           top, channels interleaved, where height, width and depth (or channels) say just so many
//   label   image/class/label, label, image/label: numbers, those below 0 being none
//   class   image/class/text, class/text: what the class of its one label is called
//   name    image/filename, filename
// Classes are the labels that occur, in numeric order: ImageNet's 1 to 1000 become 0 to 999 and
// keep their numbers as names where there is no text. The split is what a word of the file's name
// says. Listed by split, train, val, test, then by file; entries are named FILE/NAME, or FILE/00000
// where the Example has no name or one that is no relative path.
//
// Opening reads the lengths of records and what of them is no image. read() checks the record's
// checksum: a record that does not match it, is no Example or has no image is kCorrupt.
// Throws UsageError naming the file: it is compressed; it is cut short, or the checksum of a length
// is wrong (there is no way to the next record); no record holds an image; some of its 128 are not
// there (unless empty classes are allowed); names that say a split beside some that do not.
std::unique_ptr<Source> open_tfrecord(const std::filesystem::path& path,
                                      const OpenOptions& options);

}  // namespace winnow::datasets
