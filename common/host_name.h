#pragma once

#include <string>

namespace winnow {

// The host name of this machine; empty if unknown.
std::string host_name();

}  // namespace winnow
