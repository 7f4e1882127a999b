#pragma once

#include <cstddef>

namespace winnow::train::cudnn {

// memcpy, of many bytes by up to four threads: one alone does not use half of what a processor's
// memory gives, and a card waits meanwhile. Waits for all of it.
void copy_on_host(void* to, const void* from, std::size_t bytes);

}  // namespace winnow::train::cudnn
