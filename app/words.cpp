#include "app/words.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <string_view>

namespace winnow::app {
namespace {

// The first whole number that is 2^(half_octaves / 2) or more.
std::uint64_t first_of_half_octave(int half_octaves) {
  const double exact = std::exp2(half_octaves / 2.0);
  auto value = static_cast<std::uint64_t>(exact);
  value = std::max<std::uint64_t>(value, 2) - 1;  // the double may be off by a little
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  while (value < kMost && pipeline::half_octave(static_cast<std::uint32_t>(value)) < half_octaves) {
    ++value;
  }
  return value;
}

// Two significant digits, or a whole number.
std::string short_number(double value) {
  if (value == 0) return "0";
  const int before = static_cast<int>(std::floor(std::log10(value))) + 1;
  return fmt::format("{:.{}f}", value, std::clamp(2 - before, 0, 6));
}

std::string ratio(int eighths_of_octave) {
  return fmt::format("{:.2f}", std::exp2(eighths_of_octave / 8.0));
}

}  // namespace

std::string name_of_folder(const std::filesystem::path& path) {
  const std::filesystem::path whole = std::filesystem::absolute(path).lexically_normal();
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

std::string percent(double share) { return fmt::format("{:.2f} %", 100 * share); }

std::string in_bytes(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  constexpr std::array<std::string_view, 6> kUnits{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return fmt::format("{:.{}f} {}", value, value < 9.95 ? 1 : 0, kUnits[unit]);
}

std::string in_seconds(double seconds) {
  if (seconds < 9.95) return fmt::format("{:.{}f} s", seconds, seconds < 0.995 ? 2 : 1);
  const auto whole = static_cast<std::uint64_t>(std::lround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string in_megapixels(std::uint64_t pixels) {
  return short_number(static_cast<double>(pixels) / 1e6);
}

std::string short_side_range(int bucket) {
  const std::uint64_t first = first_of_half_octave(bucket);
  const std::uint64_t last = std::max(first, first_of_half_octave(bucket + 1) - 1);
  return first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
}

std::string pixels_range(int bucket) {
  return fmt::format("{}-{}", short_number(std::exp2(bucket) / 1e6),
                     short_number(std::exp2(bucket + 1) / 1e6));
}

std::string aspect_range(int bucket) {
  const int quarters = bucket - pipeline::kSquare;
  return fmt::format("{}-{}", ratio(2 * quarters - 1), ratio(2 * quarters + 1));
}

std::string file_bytes_range(int bucket) {
  constexpr std::array<std::string_view, 7> kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  const auto unit = static_cast<std::size_t>(std::clamp(bucket / 10, 0, 6));
  const std::uint64_t first = std::uint64_t{1} << (bucket - 10 * static_cast<int>(unit));
  return fmt::format("{}-{} {}", first, 2 * first, kUnits[unit]);
}

std::vector<std::uint64_t> images_by_class(const pipeline::Statistics& statistics) {
  std::vector<std::uint64_t> sums(statistics.splits[0].classes.size());
  for (const auto& split : statistics.splits) {
    std::transform(sums.begin(), sums.end(), split.classes.begin(), sums.begin(), std::plus<>());
  }
  return sums;
}

Balance balance_of(const std::vector<std::uint64_t>& images_by_class) {
  Balance balance;
  for (const std::uint64_t images : images_by_class) {
    if (images == 0) {
      ++balance.without;
      continue;
    }
    balance.least = balance.classes == 0 ? images : std::min(balance.least, images);
    balance.most = std::max(balance.most, images);
    ++balance.classes;
  }
  return balance;
}

std::string in_words(const Balance& balance) {
  if (balance.classes == 0) return "no images";
  const std::string range = balance.least == balance.most
                                ? grouped(balance.most)
                                : grouped(balance.least) + " to " + grouped(balance.most);
  return range + (balance.most == 1 ? " image a class" : " images a class") +
         (balance.without > 0 ? ", none in " + grouped(balance.without) : "");
}

}  // namespace winnow::app
