#pragma once

#include <filesystem>
#include <memory>

#include "datasets/source.h"

namespace winnow::datasets {

// Whether `path` is Caffe's data set: a folder with an LMDB file data.mdb, such a file itself, or a
// folder of such folders named *lmdb or *_db.
bool caffe_lmdb_found_at(const std::filesystem::path& path);

// Reads Caffe's LMDB of Datum messages, as convert_imageset and DIGITS write them. A Datum has an
// encoded image or raw planes (gray, or B, G, R as in OpenCV), and a label.
//
// Classes  The labels that occur, in numeric order; their names are the numbers.
// Split    From a word of the folder's name, as "train_lmdb".
// Order    By key, folder by folder.
// Names    An image is named by its key, "00000012_cat/a.jpg", or by the number "00012" if the key
//          is no relative path. With several folders, prefixed by the folder's name.
// Access   The file is read by common/lmdb, without the LMDB library and without a lock; it must
//          not be truncated meanwhile. Every page that leads to a value is checked. There are no
//          checksums.
// Corrupt  A value that is no Datum, or whose pixels do not fit its size, is listed as kCorrupt.
// Errors   FormatError: a damaged file. UsageError naming the file: no value is a Datum with an
//          image; a label below 0 (unless labels are kNone); only some folder names contain a
//          split.
std::unique_ptr<Source> open_caffe_lmdb(const std::filesystem::path& path,
                                        const OpenOptions& options);

}  // namespace winnow::datasets
