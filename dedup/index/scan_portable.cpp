#include "dedup/index/scan_loop_internal.h"

namespace winnow::dedup {

std::size_t scan_portable(const std::uint64_t* codes, std::size_t stride, std::size_t words,
                          std::size_t first, std::size_t last, const std::uint64_t* query,
                          std::uint32_t radius, std::uint32_t* hits) noexcept {
  return scan_any(codes, stride, words, first, last, query, radius, hits);
}

}  // namespace winnow::dedup
