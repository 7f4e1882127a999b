#pragma once

#include <filesystem>
#include <string>

namespace winnow {

// The text after "`name` :" in a file of /proc; empty if there is none.
std::string system_field(const std::filesystem::path& file, const std::string& name);

std::string processor_name();  // such as "AMD EPYC 9654 96-Core Processor"; empty if unknown

}  // namespace winnow
