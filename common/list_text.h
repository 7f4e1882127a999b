#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/file.h"

namespace winnow {

// Texts that people and other programs make lists with: tables, names of images and of classes,
// weights. All that reads such a list does so here.
//
//   encodings  UTF-8, or any bytes; UTF-16 by its mark, or where every second of the first bytes is
//              0. What comes out is without a byte order mark; UTF-16 becomes UTF-8.
//   lines      LF and CR LF stay as they are. CR becomes LF where the beginning has no LF.
//   refused    (UsageError, naming the file) UTF-32, UTF-16 with half a character, and what is no
//              list by its first bytes, as a Git LFS pointer or a zip (known_bytes).

// Calls `take` with each piece of the text, in order.
void for_each_text(const InputFile& file, const std::function<void(std::string_view)>& take);

// The whole text. UsageError where there is no such file.
std::string read_list_text(const std::filesystem::path& path);
// Its lines, without their ends; empty ones too.
std::vector<std::string> read_list_lines(const std::filesystem::path& path);
// The beginning of the text, 64 KiB at most; "" where it cannot be read.
std::string beginning_of_list(const std::filesystem::path& path);

}  // namespace winnow
