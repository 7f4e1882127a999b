#pragma once

#include <filesystem>
#include <memory>

#include "datasets/source.h"

namespace winnow::datasets {

// Whether `path` is a file *.rec with the magic number of RecordIO, or a folder with one.
bool recordio_found_at(const std::filesystem::path& path);

// Reads MXNet's RecordIO files of images, as im2rec writes them. A record has an IRHeader (labels
// as floats, and an id) and an encoded image. Records in several parts are joined. Opening reads
// only the headers.
//
// Classes  The labels that occur, in numeric order; their names are the numbers. Several labels of
//          an image are kept as a set.
// Split    From a word of the file's name.
// Order    Train, val, test; then by file, in its order. NAME.idx is not needed.
// Names    An image is named "FILE/00000"; or "FILE/PATH" if NAME.lst beside NAME.rec has a path
//          for the record's id.
// Corrupt  A record that is too small for its header is listed as kCorrupt. The format has no
//          checksums.
// Errors   UsageError naming the file: no record where one should begin; a record beyond the end;
//          labels that are no set of classes, such as boxes (unless labels are kNone); only some
//          names contain a split.
std::unique_ptr<Source> open_recordio(const std::filesystem::path& path,
                                      const OpenOptions& options);

}  // namespace winnow::datasets
