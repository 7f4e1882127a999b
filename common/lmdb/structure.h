#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "common/bytes.h"

namespace winnow {
class InputFile;
}

namespace winnow::lmdb {

// LMDB follows the page numbers and offsets of a file without looking where they lead: a damaged
// file crashes the process. This walks the tree of the newest meta page of a sealed single-database
// file, whose keys are 8 bytes, as a read-only cursor will, and throws FormatError naming `where`
// unless every step stays inside `file`, no byte belongs to two keys or pages, and all leaves lie
// at one depth. Values are not read. Reference: the on-disk format of LMDB 0.9, data version 1.
void check_structure(BytesView file, const std::string& where);

// A file that others wrote: keys of any bytes, pages at its end that were never written. Calls
// `take` with each key and the place of its value in `file`, in the order of keys, without LMDB's
// code; FormatError as above.
void for_each_entry(
    BytesView file, const std::string& where,
    const std::function<void(BytesView key, std::uint64_t begin, std::uint64_t bytes)>& take);

// Calls `take` with each key of a file of ours and the place of its value, in the order of the
// tree. Reads the pages of the tree alone, and maps nothing: for files on storage that may fail.
// Checks as check_structure() does, but for keys that do not ascend. FormatError, SystemError.
void for_each_place(
    const InputFile& file,
    const std::function<void(std::uint64_t key, std::uint64_t begin, std::uint64_t bytes)>& take);

}  // namespace winnow::lmdb
