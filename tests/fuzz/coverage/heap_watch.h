#pragma once

#include <cstdint>

namespace winnow::fuzz {

// Counts the bytes of the heap that are allocated from now on, by any code and thread, less those
// that are freed. The allocation that brings them above `most` ends the process by abort().
void watch_heap(std::uint64_t most) noexcept;
// Ends that, and returns how many bytes there were at most.
std::uint64_t leave_heap() noexcept;

bool is_sanitized() noexcept;

}  // namespace winnow::fuzz
