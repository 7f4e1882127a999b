#pragma once

#include <string>

namespace winnow {

// This machine's name, as the system has it; empty where it does not say.
std::string host_name();

}  // namespace winnow
