#include "dedup/leak/leak.h"

#include <algorithm>

namespace winnow::dedup {

std::vector<LeakCount> count_leaks(const Components& components, std::span<const Split> splits) {
  const auto bit = [](Split split) { return 1U << static_cast<unsigned>(split); };
  std::vector<std::uint8_t> reached(components.count);  // a bit for each split
  for (std::size_t row = 0; row < splits.size(); ++row) {
    reached[components.of_row[row]] |= static_cast<std::uint8_t>(bit(splits[row]));
  }
  std::vector<LeakCount> leaks{
      {Split::kTrain, Split::kVal}, {Split::kTrain, Split::kTest}, {Split::kVal, Split::kTest}};
  for (LeakCount& leak : leaks) {
    const unsigned both = bit(leak.a) | bit(leak.b);
    for (const std::uint8_t component : reached) leak.groups += (component & both) == both ? 1 : 0;
    for (std::size_t row = 0; row < splits.size(); ++row) {
      if (splits[row] != leak.b) continue;
      leak.samples_in_b += (reached[components.of_row[row]] & bit(leak.a)) != 0 ? 1 : 0;
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
