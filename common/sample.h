#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace winnow {

// Identifies an input for the whole life of a cache: number of its data set in the cache (16 bits),
// then position in that data set's listing (48 bits). Unreadable inputs have ids, too. Ids never
// change.
using SampleId = std::uint64_t;

inline constexpr int kPositionBits = 48;

constexpr SampleId make_sample_id(std::uint32_t source, std::uint64_t position) noexcept {
  return (static_cast<SampleId>(source) << kPositionBits) | position;
}
constexpr std::uint32_t source_of(SampleId id) noexcept {
  return static_cast<std::uint32_t>(id >> kPositionBits);
}
constexpr std::uint64_t position_of(SampleId id) noexcept {
  return id & ((SampleId{1} << kPositionBits) - 1);
}

// The splits of a data set. Stored on disk: never renumber.
enum class Split : std::uint8_t { kNone = 0, kTrain = 1, kVal = 2, kTest = 3 };
inline constexpr int kSplitCount = 4;

std::string_view split_name(Split split) noexcept;  // "none", "train", "val", "test"

// Parses the name of a split. Accepts common folder names, too: "training", "valid", "validation",
// "eval", "testing".
std::optional<Split> parse_split(std::string_view name) noexcept;

}  // namespace winnow
