#include "dedup/hash/hash_name.h"

#include <algorithm>
#include <array>

namespace winnow::dedup {
namespace {

struct Part {
  std::string_view text;
  int number;
};
constexpr std::array kOrientations{Part{"_dihedral", 8}, Part{"_mirrored", 2}};
constexpr std::array kScales{Part{"@1/2", 2}, Part{"@1/4", 4}, Part{"@1/8", 8}};

}  // namespace

std::optional<HashName> parse_hash_name(std::string_view name) noexcept {
  HashName parsed{name.substr(0, name.find('@'))};
  if (const std::string_view at = name.substr(parsed.row.size()); !at.empty()) {
    const auto scale = std::ranges::find(kScales, at, &Part::text);
    if (scale == kScales.end()) return std::nullopt;
    parsed.scale = scale->number;
  }
  for (const Part& ending : kOrientations) {
    if (!parsed.row.ends_with(ending.text)) continue;
    parsed.row.remove_suffix(ending.text.size());
    parsed.orientations = ending.number;
    break;
  }
  return parsed;
}

std::string to_text(const HashName& name) {
  const auto text_of = [](const auto& parts, int number) {
    const auto part = std::ranges::find(parts, number, &Part::number);
    return part == parts.end() ? std::string_view() : part->text;
  };
  std::string text(name.row);
  text += text_of(kOrientations, name.orientations);
  text += text_of(kScales, name.scale);
  return text;
}

}  // namespace winnow::dedup
