#pragma once

#include <string>
#include <string_view>

namespace winnow {

// `text` as a field of a CSV line, quoted as RFC 4180 has it where it must be.
std::string csv_field(std::string_view text);

}  // namespace winnow
