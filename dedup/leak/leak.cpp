#include "dedup/leak/leak.h"

#include <algorithm>
#include <array>

namespace winnow::dedup {

std::vector<LeakCount> count_leaks(const Components& components, std::span<const Split> splits) {
  std::vector<std::array<std::uint32_t, kSplitCount>> members(components.count);
  for (std::size_t row = 0; row < splits.size(); ++row) {
    ++members[components.of_row[row]][static_cast<std::size_t>(splits[row])];
  }
  std::vector<LeakCount> leaks{
      {Split::kTrain, Split::kVal}, {Split::kTrain, Split::kTest}, {Split::kVal, Split::kTest}};
  for (LeakCount& leak : leaks) {
    for (const auto& counts : members) {
      const std::uint32_t in_a = counts[static_cast<std::size_t>(leak.a)];
      const std::uint32_t in_b = counts[static_cast<std::size_t>(leak.b)];
      if (in_a == 0 || in_b == 0) continue;
      ++leak.groups;
      leak.samples_in_b += in_b;
    }
  }
  std::erase_if(leaks, [](const LeakCount& leak) { return leak.groups == 0; });
  return leaks;
}

bool is_leak(std::span<const Split> splits, std::span<const std::uint32_t> rows) {
  Split seen = Split::kNone;
  for (const std::uint32_t row : rows) {
    if (splits[row] == Split::kNone) continue;
    if (seen != Split::kNone && seen != splits[row]) return true;
    seen = splits[row];
  }
  return false;
}

}  // namespace winnow::dedup
