#pragma once

#include <string>
#include <string_view>

namespace winnow {

// Whether a glob fits a whole path, both of parts between '/'.
//
// `**` as a whole part  any number of parts, none too; as the last part at least one
// any other part        one part, as fnmatch(3) has it: * any characters, ? one, [a-z] and [!a-z]
//                       one of them, \ the next as it is; a leading dot is nothing special
//
// "originals/**" fits all below originals, "**/gold/*.jpg" what lies in a gold at any depth,
// "*.png" what lies in no folder. No more time than the product of both lengths in parts.
bool glob_fits(const std::string& glob, std::string_view path);

}  // namespace winnow
