#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace winnow::pipeline {

// What a file's metadata says of how its picture is to be held: left alone, as torchvision does, or
// applied, as ImageOps.exif_transpose of Pillow does.
enum class Orientation { kIgnore, kApply };

// What transparent pixels are laid upon.
struct Matte {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;

  bool is_gray() const noexcept { return red == green && green == blue; }
  friend bool operator==(const Matte&, const Matte&) = default;
};

// What decides, with the bytes of a file, which pixels it has, or that it has none: part of the
// content of a cache. Whoever decodes what a cache stores takes them from its manifest
// (pipeline/store/settings.h), and so gets the pixels that were fingerprinted.
struct DecodeSettings {
  std::uint64_t max_pixels = 178'956'970;  // Pillow's limit
  int max_scans = 500;                     // of a JPEG: a small file could otherwise cost minutes
  Orientation orientation = Orientation::kIgnore;
  std::optional<Matte> matte{};  // none: alpha is dropped

  friend bool operator==(const DecodeSettings&, const DecodeSettings&) = default;
};

// What is stored of large images: images whose shorter side is longer than `short_side_px` are made
// smaller (shrink.h), and those that were encoded are encoded again, as JPEG. 0: all stay as they
// are.
struct ResizeSettings {
  int short_side_px = 0;
  int quality = 90;  // of JPEGs, 1 to 100

  friend bool operator==(const ResizeSettings&, const ResizeSettings&) = default;
};

// "ignore" or "apply"; nothing for another text.
std::optional<Orientation> parse_orientation(std::string_view text) noexcept;
std::string_view orientation_name(Orientation orientation) noexcept;

// "white", "black" or "#rrggbb"; nothing for another text.
std::optional<Matte> parse_matte(std::string_view text) noexcept;
std::string to_text(const Matte& matte);  // "#rrggbb"

}  // namespace winnow::pipeline
