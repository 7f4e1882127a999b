#pragma once

#include <cstdint>

namespace winnow::fuzz {

// Starts counting allocated heap bytes, less those that are freed, by all code and threads.
// The allocation that exceeds `most` ends the process with abort().
void watch_heap(std::uint64_t most) noexcept;
// Stops counting. Returns the peak in bytes.
std::uint64_t leave_heap() noexcept;

bool is_sanitized() noexcept;

}  // namespace winnow::fuzz
