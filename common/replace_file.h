#pragma once

#include <filesystem>
#include <string_view>

namespace winnow {

// Returns `path` if the file there may be replaced. Throws UsageError if it is a device, a pipe, or
// an open file of a process (/dev/fd): replacing it would affect everyone who uses it.
const std::filesystem::path& replaceable(const std::filesystem::path& path);

// Replaces a whole file that is rewritten often. Readers find the old or the new text, never a
// part.
// Not durable: after a crash of the machine the file may be empty or old. It has no fault points
// (failpoint.h), because nothing depends on it.
//
// Ranks   Only one may write a path at a time; PATH.tmp exists meanwhile.
// Errors  SystemError naming the path; the old text remains.
void replace_file(const std::filesystem::path& path, std::string_view text);

}  // namespace winnow
