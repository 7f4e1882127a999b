#pragma once

#include <filesystem>
#include <memory>

#include "datasets/source.h"

namespace winnow::datasets {

// True for a folder with an LMDB file data.mdb, for such a file itself, and for a folder of such
// folders named *lmdb or *_db.
bool caffe_lmdb_found_at(const std::filesystem::path& path);

// Reads Caffe's LMDB of Datum messages, as convert_imageset and DIGITS write them: an encoded image
// or raw planes (gray, or B, G, R as in OpenCV), and a label.
//
// Classes  The labels that occur, in numeric order, named by their number.
// Split    From a word of the folder's name.
// Order    By key, folder by folder.
// Names    The key, "00000012_cat/a.jpg"; the number "00012" if the key is no relative path. With
//          several folders, prefixed by the folder's name.
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
