#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace winnow {

// Numbers for people.
std::string grouped(std::uint64_t number);  // 12,345,678

// A number and a noun: "1 image", "12,345 images". The plural is `many` if given; else an s is
// appended.
std::string count_of(std::uint64_t number, std::string_view one);
std::string count_of(std::uint64_t number, std::string_view one, std::string_view many);

}  // namespace winnow
