#pragma once

#include <pthread.h>

namespace winnow {

// Names the calling thread for ps -L, top -H, perf and gdb. At most 15 characters.
inline void name_thread(const char* name) noexcept { pthread_setname_np(pthread_self(), name); }

}  // namespace winnow
