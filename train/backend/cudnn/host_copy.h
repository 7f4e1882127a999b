#pragma once

#include <cstddef>

namespace winnow::train::cudnn {

// memcpy that uses up to four threads for large copies. A single thread uses less than half of the
// memory bandwidth, and a GPU waits meanwhile. Blocking.
void copy_on_host(void* to, const void* from, std::size_t bytes);

}  // namespace winnow::train::cudnn
