#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/file.h"

namespace winnow {

// Reading of user-made text lists: tables, names of images and of classes, weights. All code that
// reads such lists uses it.
//
// encodings  UTF-8, or any bytes. UTF-16, by its byte order mark, or if every second of the first
//            bytes is 0; it is converted to UTF-8. A byte order mark is removed.
// lines      LF and CR LF are unchanged. CR becomes LF if the beginning has no LF.
// refused    (UsageError, naming the file) UTF-32, UTF-16 with half a character, and files that are
//            no lists by their first bytes, such as a Git LFS pointer or a zip (known_bytes).

// Calls `take` with consecutive pieces of the text.
void for_each_text(const InputFile& file, const std::function<void(std::string_view)>& take);

// The whole text. UsageError where there is no such file.
std::string read_list_text(const std::filesystem::path& path);
// The lines without line ends, including empty ones.
std::vector<std::string> read_list_lines(const std::filesystem::path& path);
// The beginning of the text, at most 64 KiB; "" if it cannot be read.
std::string beginning_of_list(const std::filesystem::path& path);

}  // namespace winnow
