#pragma once

#include <filesystem>
#include <string_view>

namespace winnow {

// Returns `path`. UsageError if it is a device, a pipe, or a file opened by a process (/dev/fd):
// replacing it would affect everyone who uses it.
const std::filesystem::path& replaceable(const std::filesystem::path& path);

// Replaces a whole file that is rewritten repeatedly: readers find the old or the new text, never a
// part.
// Not durable: after a crash of the machine the file may be empty or old. It has no fault points
// (failpoint.h), because nothing depends on it.
//
// Ranks   One writer of a path at a time; PATH.tmp exists meanwhile.
// Errors  SystemError naming the path; the old text remains.
void replace_file(const std::filesystem::path& path, std::string_view text);

}  // namespace winnow
