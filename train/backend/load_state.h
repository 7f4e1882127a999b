#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

namespace winnow::train {

// Which parts of the parameters are loaded: one object for all programs that share packed weights.
// Any thread may call any of it.
class LoadState {
 public:
  // Part `part` of `parts` is loaded. One that was loaded already begins the next load, to which
  // all others belong as well.
  void mark(int part, int parts);
  void forget();                // nothing is loaded, because other memory was bound
  void check_complete() const;  // Error when a part is missing

 private:
  mutable std::mutex mutex_;
  std::vector<bool> is_loaded_;  // by part
};

// Error unless 0 <= part < parts.
void check_part(int part, int parts);

// The part that item `begin` to `end` of `total` bytes belongs to: parts are runs of neighbours of
// about the same size.
int part_of(std::size_t begin, std::size_t end, std::size_t total, int parts) noexcept;

}  // namespace winnow::train
