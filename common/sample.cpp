#include "common/sample.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>

namespace winnow {

std::string_view split_name(Split split) noexcept {
  constexpr std::array<std::string_view, kSplitCount> kNames{"none", "train", "val", "test"};
  return kNames.at(static_cast<std::size_t>(split));
}

std::optional<Split> parse_split(std::string_view name) noexcept {
  constexpr std::array<std::pair<std::string_view, Split>, 9> kNames{{
      {"none", Split::kNone},
      {"train", Split::kTrain},
      {"training", Split::kTrain},
      {"val", Split::kVal},
      {"valid", Split::kVal},
      {"validation", Split::kVal},
      {"eval", Split::kVal},
      {"test", Split::kTest},
      {"testing", Split::kTest},
  }};
  const auto same = [name](const auto& row) {
    return std::equal(
        name.begin(), name.end(), row.first.begin(), row.first.end(),
        [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
  };
  const auto* row = std::find_if(kNames.begin(), kNames.end(), same);
  if (row == kNames.end()) return std::nullopt;
  return row->second;
}

}  // namespace winnow
