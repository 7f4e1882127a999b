#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

namespace winnow::train {

// Tracks which parts of the parameters are loaded: one object for all programs that share packed
// weights. Thread-safe.
class LoadState {
 public:
  // Part `part` of `parts` is loaded. A part that was loaded already starts a new load, and all
  // others must be loaded again.
  void mark(int part, int parts);
  void forget();                // nothing is loaded any more, because other memory was bound
  void check_complete() const;  // Error if a part is missing

 private:
  mutable std::mutex mutex_;
  std::vector<bool> is_loaded_;  // by part
};

// Error unless 0 <= part < parts.
void check_part(int part, int parts);

// The part to which the bytes [begin, end) of `total` belong. Parts are contiguous and of about
// equal size.
int part_of(std::size_t begin, std::size_t end, std::size_t total, int parts) noexcept;

}  // namespace winnow::train
