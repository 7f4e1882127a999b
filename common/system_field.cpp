#include "common/system_field.h"

#include <fstream>

namespace winnow {

std::string system_field(const std::filesystem::path& file, const std::string& name) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(name)) continue;
    const std::size_t at = line.find_first_not_of(" \t", line.find(':') + 1);
    return at == std::string::npos ? "" : line.substr(at);
  }
  return "";
}

std::string processor_name() { return system_field("/proc/cpuinfo", "model name"); }

}  // namespace winnow
