#include "tools/numbers.h"

#include <fmt/core.h>

#include <cerrno>
#include <cmath>
#include <optional>

namespace winnow::tools {
namespace {

// A sign and a magnitude that fits 64 bits.
struct Whole {
  bool negative;
  std::uint64_t magnitude;
};

std::optional<Whole> parse_whole(const std::string& text) {
  const bool has_sign = !text.empty() && (text[0] == '-' || text[0] == '+');
  const char* const digits = text.c_str() + (has_sign ? 1 : 0);
  if (*digits < '0' || *digits > '9') return std::nullopt;
  char* end = nullptr;
  errno = 0;
  const std::uint64_t magnitude = std::strtoull(digits, &end, 0);
  if (errno != 0 || *end != '\0') return std::nullopt;
  return Whole{text[0] == '-', magnitude};
}

std::optional<double> parse_real(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(value)) return std::nullopt;
  return value;
}

bool lies_in(const Whole& number, std::int64_t least, std::uint64_t most) {
  if (!number.negative || number.magnitude == 0) {
    return number.magnitude <= most && (least < 0 || number.magnitude >= std::uint64_t(least));
  }
  // In two's complement, the magnitude of the least number is one more than that of the largest.
  return least < 0 && number.magnitude - 1 <= static_cast<std::uint64_t>(-(least + 1));
}

Check wholes(std::int64_t least, std::uint64_t most) {
  const auto check = [least, most](const std::string& text) -> std::string {
    const std::optional<Whole> number = parse_whole(text);
    if (number && lies_in(*number, least, most)) return {};
    return fmt::format("must be a whole number from {} to {}, it is {}", least, most, text);
  };
  return {fmt::format("[{}, {}]", least, most), check};
}

}  // namespace

Check whole_in(std::int64_t least, std::int64_t most) {
  return wholes(least, static_cast<std::uint64_t>(most));
}

Check seeds() { return wholes(0, std::numeric_limits<std::uint64_t>::max()); }

Check cores() { return whole_in(0, kMostCores); }

Check real_in(double least, double most) {
  return real_in(train::Range{.least = least, .most = most});
}

Check real_above(double least, double most) {
  return real_in(train::Range{.least = least, .most = most, .above_least = true});
}

Check real_in(const train::Range& range) {
  const auto check = [range](const std::string& text) -> std::string {
    const std::optional<double> number = parse_real(text);
    if (number && range.contains(*number)) return {};
    return fmt::format("must be {}, it is {}", range.text(), text);
  };
  return {fmt::format("{}{:g}, {:g}{}", range.above_least ? "(" : "[", range.least, range.most,
                      range.below_most ? ")" : "]"),
          check, /*takes_percent=*/range.least >= 0 && range.most <= 1};
}

}  // namespace winnow::tools
