#pragma once

#include <cstdint>

namespace winnow::fuzz {

// Counts the heap bytes allocated from now on, by any code and thread, minus those freed. The
// allocation that exceeds `most` ends the process by abort().
void watch_heap(std::uint64_t most) noexcept;
// Stops counting, and returns the peak.
std::uint64_t leave_heap() noexcept;

bool is_sanitized() noexcept;

}  // namespace winnow::fuzz
