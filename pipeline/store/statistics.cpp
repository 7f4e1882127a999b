#include "pipeline/store/statistics.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <span>

#include "dedup/table/fingerprints.h"

namespace winnow::pipeline {
namespace {

// floor(8 * log2(more / less)), more >= less > 0: repeated squaring yields the binary digits of the
// logarithm.
int eighths_of_octave(std::uint32_t more, std::uint32_t less) noexcept {
  __extension__ using Wide = unsigned __int128;
  constexpr int kPoint = 63;  // mantissa in [1, 2) with that many binary places
  Wide mantissa = (Wide{more} << kPoint) / less;
  int log = 0;
  const auto normalise = [&] {
    while (mantissa >> (kPoint + 1) != 0) {
      mantissa >>= 1;
      ++log;
    }
  };
  normalise();
  for (int digit = 0; digit < 3; ++digit) {
    mantissa = mantissa * mantissa >> kPoint;
    log *= 2;
    normalise();
  }
  return log;
}

// Counts the labels that name a class, each class once.
void count_labels(std::span<const std::int32_t> labels, Statistics::OfSplit& split) {
  bool any = false;
  for (auto label = labels.begin(); label != labels.end(); ++label) {
    if (*label < 0 || static_cast<std::size_t>(*label) >= split.classes.size()) continue;
    any = true;
    if (std::find(labels.begin(), label, *label) != label) continue;
    ++split.classes[static_cast<std::size_t>(*label)];
  }
  split.unlabelled += any ? 0 : 1;
}

// Counts from a file may be any numbers: compares by subtraction to avoid overflow.
bool sums_to(const std::vector<std::uint64_t>& counts, std::uint64_t total) noexcept {
  for (const std::uint64_t count : counts) {
    if (count > total) return false;
    total -= count;
  }
  return total == 0;
}

// Each labelled image is in at least one class, and in none twice.
bool is_of(const Statistics::OfSplit& split, std::uint64_t images) noexcept {
  if (split.unlabelled > images) return false;
  std::uint64_t to_find = images - split.unlabelled;
  const std::uint64_t most = to_find;
  for (const std::uint64_t count : split.classes) {
    if (count > most) return false;
    to_find -= std::min(to_find, count);
  }
  return to_find == 0;
}

}  // namespace

void Histogram::add(int bucket) {
  if (counts.empty()) first = bucket;
  if (bucket < first) {
    counts.insert(counts.begin(), static_cast<std::size_t>(first - bucket), 0);
    first = bucket;
  }
  const auto place = static_cast<std::size_t>(bucket - first);
  if (place >= counts.size()) counts.resize(place + 1);
  ++counts[place];
}

std::uint64_t Histogram::total() const noexcept {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

int octave(std::uint64_t value) noexcept {
  return value == 0 ? 0 : static_cast<int>(std::bit_width(value)) - 1;
}

int half_octave(std::uint32_t value) noexcept { return octave(std::uint64_t{value} * value); }

int aspect_bucket(std::uint32_t width_px, std::uint32_t height_px) noexcept {
  const auto [less, more] = std::minmax(width_px, height_px);
  if (less == 0) return kSquare;
  const int quarters = (eighths_of_octave(more, less) + 1) / 2;
  return width_px < height_px ? kSquare - quarters : kSquare + quarters;
}

Statistics::Statistics(std::size_t classes) {
  for (OfSplit& split : splits) split.classes.resize(classes);
}

void Statistics::add(const dedup::Fingerprints& rows) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const Picture picture{rows.ids[row], rows.widths_px[row], rows.heights_px[row]};
    const auto before = [](const Picture& a, const Picture& b, auto less) {
      return a.pixels() != b.pixels() ? less(a.pixels(), b.pixels()) : a.id < b.id;
    };
    if (smallest.pixels() == 0 || before(picture, smallest, std::less<>())) smallest = picture;
    if (largest.pixels() == 0 || before(picture, largest, std::greater<>())) largest = picture;
    count_labels(rows.labels[row], splits[static_cast<std::size_t>(rows.splits[row])]);
    short_side.add(half_octave(std::min(picture.width_px, picture.height_px)));
    pixels.add(octave(picture.pixels()));
    aspect.add(aspect_bucket(picture.width_px, picture.height_px));
    file_bytes.add(octave(rows.file_bytes[row]));
    total_pixels += picture.pixels();
    total_file_bytes += rows.file_bytes[row];
  }
}

bool Statistics::agrees_with(
    const std::array<std::uint64_t, kSplitCount>& split_counts) const noexcept {
  std::uint64_t images = 0;
  for (std::size_t i = 0; i < split_counts.size(); ++i) {
    if (!is_of(splits[i], split_counts[i])) return false;
    images += split_counts[i];
  }
  for (const Histogram* histogram : {&short_side, &pixels, &aspect, &file_bytes}) {
    if (!sums_to(histogram->counts, images)) return false;
  }
  if (images == 0) return *this == Statistics(splits[0].classes.size());
  return pixels.first == octave(smallest.pixels()) && pixels.end() - 1 == octave(largest.pixels());
}

}  // namespace winnow::pipeline
