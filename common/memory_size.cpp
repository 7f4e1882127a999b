#include "common/memory_size.h"

#include <charconv>
#include <cmath>

namespace winnow {
namespace {

// Size of a unit in MiB; 0: unknown.
double mib_of_unit(std::string_view unit) {
  if (unit.empty()) return 1;
  const std::string_view rest = unit.substr(1);
  if (!rest.empty() && rest != "b" && rest != "B" && rest != "iB" && rest != "ib") return 0;
  switch (unit.front() | 0x20) {
    case 'm':
      return 1;
    case 'g':
      return 1024;
    case 't':
      return 1024.0 * 1024;
    default:
      return 0;
  }
}

}  // namespace

std::optional<std::uint64_t> parse_mib(std::string_view text) {
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc()) return std::nullopt;
  const auto digits = static_cast<std::size_t>(end - text.data());
  const double unit = mib_of_unit(text.substr(digits));
  const double mib = std::floor(number * unit);
  constexpr double kMost = 17'592'186'044'416;  // 2^64 bytes
  const bool is_zero = number == 0 && !std::signbit(number);
  if (unit == 0 || !(mib >= 1 || is_zero) || mib >= kMost) return std::nullopt;
  return static_cast<std::uint64_t>(mib);
}

}  // namespace winnow
