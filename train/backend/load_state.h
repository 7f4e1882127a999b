#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

namespace winnow::train {

// Tracks which parts of the parameters were loaded (packed for kernels). Programs that share packed
// weights share one object. Thread-safe.
class LoadState {
 public:
  // Records that part `part` of `parts` is loaded. If that part was loaded already, a new load
  // begins: all other parts count as missing.
  void mark(int part, int parts);
  void forget();                // all parts count as missing, because other memory was bound
  void check_complete() const;  // throws Error if a part is missing

 private:
  mutable std::mutex mutex_;
  std::vector<bool> is_loaded_;  // whether each part is loaded
};

// Checks that 0 <= part < parts. Throws Error if not.
void check_part(int part, int parts);

// Returns the part to which the bytes [begin, end) of `total` bytes belong. Parts are contiguous
// and of about equal size.
int part_of(std::size_t begin, std::size_t end, std::size_t total, int parts) noexcept;

}  // namespace winnow::train
