#pragma once

#include <filesystem>
#include <memory>

#include "datasets/source.h"

namespace winnow::datasets {

// True for a folder that holds an LMDB file data.mdb, for such a file itself, and for a folder with
// such folders in it that are named *lmdb or *_db.
bool caffe_lmdb_found_at(const std::filesystem::path& path);

// Caffe's LMDB of Datum messages, as convert_imageset and DIGITS write them: an encoded image, or
// bare pixels in planes, gray or B, G, R as OpenCV has them, and a label. Classes are the labels
// that occur, in numeric order, named by their number. The split is what a word of the folder's
// name says. Listed in the order of the keys, folder by folder; an entry is named by its key,
// "00000012_cat/a.jpg", by its number "00012" where the key is no relative path, and behind the
// folder's name where there are several.
//
// The file is walked by common/lmdb, never opened by LMDB, and not locked (it must not be cut short
// meanwhile); every page that leads to a value is checked. It has no checksums. A value that is no
// Datum, or has no pixels that fit its size, is listed and kCorrupt.
// Throws FormatError for a file that is not sound; UsageError naming it where no value is a Datum
// with an image, labels are below 0 (unless labels are kNone), only some folders' names say a
// split.
std::unique_ptr<Source> open_caffe_lmdb(const std::filesystem::path& path,
                                        const OpenOptions& options);

}  // namespace winnow::datasets
