#include "pipeline/decode/settings.h"

#include <charconv>

namespace winnow::pipeline {

std::optional<Orientation> parse_orientation(std::string_view text) noexcept {
  if (text == "ignore") return Orientation::kIgnore;
  if (text == "apply") return Orientation::kApply;
  return std::nullopt;
}

std::string_view orientation_name(Orientation orientation) noexcept {
  return orientation == Orientation::kApply ? "apply" : "ignore";
}

std::optional<Matte> parse_matte(std::string_view text) noexcept {
  if (text == "white") return Matte{255, 255, 255};
  if (text == "black") return Matte{0, 0, 0};
  if (text.size() != 7 || text.front() != '#') return std::nullopt;
  std::uint32_t rgb = 0;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + 7, rgb, 16);
  if (error != std::errc() || end != text.data() + 7) return std::nullopt;
  return Matte{static_cast<std::uint8_t>(rgb >> 16), static_cast<std::uint8_t>(rgb >> 8 & 255),
               static_cast<std::uint8_t>(rgb & 255)};
}

std::string to_text(const Matte& matte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "#";
  for (const int value : {matte.red, matte.green, matte.blue}) {
    text += kDigits[static_cast<std::size_t>(value / 16)];
    text += kDigits[static_cast<std::size_t>(value % 16)];
  }
  return text;
}

}  // namespace winnow::pipeline
