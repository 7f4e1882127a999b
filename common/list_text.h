#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/file.h"

namespace winnow {

// Reads text lists that users made: tables, names of images and of classes, weights.
//
// encodings  UTF-8, or any bytes. UTF-16, recognised by its byte order mark or by a 0 in every
//            second of the first bytes, is converted to UTF-8. A byte order mark is removed.
// lines      LF and CR LF are unchanged. CR becomes LF if there is no LF at the beginning.
// refused    (UsageError, naming the file) UTF-32, UTF-16 with half a character, and files that are
//            no lists by their first bytes, such as a Git LFS pointer or a zip (known_bytes).

// Calls `take` with the text of a list, piece by piece.
void for_each_text(const InputFile& file, const std::function<void(std::string_view)>& take);

// The whole text of a list. Throws UsageError if there is no such file.
std::string read_list_text(const std::filesystem::path& path);
// The lines of a list, without line ends; empty lines are included.
std::vector<std::string> read_list_lines(const std::filesystem::path& path);
// The beginning of a list, at most 64 KiB; empty if it cannot be read.
std::string beginning_of_list(const std::filesystem::path& path);

}  // namespace winnow
