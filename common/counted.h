#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace winnow {

// Numbers for people.
std::string grouped(std::uint64_t number);  // 12,345,678

// A number with its noun: "1 image", "12,345 images". Without `many`, the plural ends in s.
std::string count_of(std::uint64_t number, std::string_view one);
std::string count_of(std::uint64_t number, std::string_view one, std::string_view many);

}  // namespace winnow
