#pragma once

#include <string>
#include <string_view>

namespace winnow {

// Whether a wildcard pattern (glob) matches a whole path. Both consist of parts between '/'.
//
// `**` as a whole part  matches any number of parts, or none; as the last part, at least one
// any other part        matches one part, as in fnmatch(3): * any characters, ? one, [a-z] and
//                       [!a-z] one of a set; \ quotes the next; a leading dot is not special
//
// "originals/**" matches everything below originals, "**/gold/*.jpg" files in a folder gold at any
// depth, "*.png" files in no folder. Time is at most proportional to the product of the numbers of
// parts.
bool glob_fits(const std::string& glob, std::string_view path);

}  // namespace winnow
