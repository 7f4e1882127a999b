#pragma once

#include <filesystem>
#include <memory>

#include "datasets/source.h"

namespace winnow::datasets {

// True for a file *.rec, or a folder that holds one, that begins as RecordIO files do.
bool recordio_found_at(const std::filesystem::path& path);

// MXNet's RecordIO files of images, as im2rec writes them: each record an IRHeader (the labels, as
// floats, and an id) and an encoded image; records in several parts are joined. Classes are the
// labels that occur, in numeric order, named by their number; several labels of an image are kept
// as a set. The split is what a word of the file's name says. Listed by split, train, val, test,
// then by file, in the file's order; NAME.idx is not needed. Entries are named "FILE/00000", or by
// the path that NAME.lst beside NAME.rec gives to the record's id, "FILE/PATH".
//
// Opening reads the headers alone. The format has no checksums. A record that is too small for its
// header is listed and kCorrupt.
// Throws UsageError naming the file: a place where no record begins, a record that ends behind the
// file, labels that are no set of classes (boxes of a detection set, say; unless labels are kNone),
// names that say a split beside some that do not.
std::unique_ptr<Source> open_recordio(const std::filesystem::path& path,
                                      const OpenOptions& options);

}  // namespace winnow::datasets
