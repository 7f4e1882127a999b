#pragma once

#include <filesystem>
#include <string_view>

namespace winnow {

// `path` again. Throws UsageError where it is a device, a pipe, or what a process has open: a file
// in its place would be one for all who use it.
const std::filesystem::path& replaceable(const std::filesystem::path& path);

// Puts a whole file in place, which is anew again and again: readers find the old text or the new,
// never a part. Nothing is synced: after a crash of the machine the file may be empty or the old
// one. So it has no fault points (failpoint.h): nothing relies on it.
//
// Ranks    one writer of a path at a time; meanwhile PATH.tmp is there
// Throws   SystemError naming the path; the old text is still in place then
void replace_file(const std::filesystem::path& path, std::string_view text);

}  // namespace winnow
