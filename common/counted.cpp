#include "common/counted.h"

namespace winnow {

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string count_of(std::uint64_t number, std::string_view one) {
  return count_of(number, one, std::string(one) + "s");
}

std::string count_of(std::uint64_t number, std::string_view one, std::string_view many) {
  return grouped(number) + " " + std::string(number == 1 ? one : many);
}

}  // namespace winnow
