#pragma once

#include <string>
#include <string_view>

namespace winnow {

// JSON files that contain their own digest: the second line is `  "digest": "<32 hex digits>",`,
// the XXH3-128 of the file without that line. To compute it without winnow:
// grep -v '^  "digest"' FILE | xxh128sum

// The digest of `json`, the text of an object that is indented by two spaces and has no digest
// line.
std::string digest_of_json(std::string_view json);
// The text `json` with the digest line inserted.
std::string with_digest_line(std::string_view json);
// Whether `text` has a digest line that fits the rest: the text was not changed since.
bool digest_line_matches(std::string_view text);
// The digest in the digest line, right or wrong; empty if there is no such line.
std::string_view stated_digest(std::string_view text) noexcept;

}  // namespace winnow
