#pragma once

#include <cstddef>

namespace winnow::train::cudnn {

// Copies memory like memcpy, with up to four threads for large copies, because a single thread uses
// less than half of the memory bandwidth. Blocking.
void copy_on_host(void* to, const void* from, std::size_t bytes);

}  // namespace winnow::train::cudnn
