#pragma once

#include <string>

namespace winnow {

// This machine's host name; empty if unknown.
std::string host_name();

}  // namespace winnow
