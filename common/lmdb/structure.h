#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "common/bytes.h"

namespace winnow {
class InputFile;
}

namespace winnow::lmdb {

// Checks the structure of a sealed LMDB file with keys of 8 bytes. LMDB follows page numbers and
// offsets without checks, so a damaged file would crash the process.
// Walks the tree of the newest meta page like a read-only cursor. Values are not read.
// Errors  FormatError naming `where`, unless every step stays inside `file`, no byte belongs to two
//         keys or pages, and all leaves are at one depth.
// Source  The on-disk format of LMDB 0.9, data version 1.
void check_structure(BytesView file, const std::string& where);

// Reads an LMDB file that another program wrote, without LMDB's code. Keys may be any bytes, and
// pages at the end may be missing. Calls `take` with each key and the position of its value in
// `file`, in order of keys.
// Errors  FormatError as check_structure().
void for_each_entry(
    BytesView file, const std::string& where,
    const std::function<void(BytesView key, std::uint64_t begin, std::uint64_t bytes)>& take);

// Reads a file of winnow on storage that may fail. Calls `take` with each key and the position of
// its value, in the order of the tree. Only reads the pages of the tree, and maps nothing. Checks
// like check_structure(), except for the order of keys.
// Errors  FormatError, SystemError.
void for_each_place(
    const InputFile& file,
    const std::function<void(std::uint64_t key, std::uint64_t begin, std::uint64_t bytes)>& take);

}  // namespace winnow::lmdb
