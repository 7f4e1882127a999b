#pragma once

#include <filesystem>
#include <string>

namespace winnow {

// The text behind "`name` :" in a file of /proc; empty: there is none.
std::string system_field(const std::filesystem::path& file, const std::string& name);

std::string processor_name();  // "AMD EPYC 9654 96-Core Processor"; empty if unknown

}  // namespace winnow
