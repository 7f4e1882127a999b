#pragma once

#include <string>

namespace winnow::tools {

// A line for each net of train/nets: the side of its usual images, its parameters, and the
// multiply-adds of one image, with 1,000 classes (10, where images are below 64 pixels).
std::string net_list();

}  // namespace winnow::tools
