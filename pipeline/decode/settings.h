#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace winnow::pipeline {

// How an EXIF orientation is treated: ignore it, as torchvision, or apply it, as Pillow's
// ImageOps.exif_transpose.
enum class Orientation { kIgnore, kApply };

// The background colour behind transparent pixels.
struct Matte {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;

  bool is_gray() const noexcept { return red == green && green == blue; }
  friend bool operator==(const Matte&, const Matte&) = default;
};

// All settings that affect which pixels a file gives, or that it is refused; part of a cache's
// content. Code that decodes a cache's images must use the settings in its manifest
// (pipeline/store/settings.h), so that it gets the pixels that were fingerprinted.
struct DecodeSettings {
  std::uint64_t max_pixels = 178'956'970;  // most pixels of an image; default: Pillow's limit
  int max_scans = 500;  // most scans of a JPEG; without a limit a small file could take minutes
  Orientation orientation = Orientation::kIgnore;
  std::optional<Matte> matte{};  // background of transparent pixels; nullopt: alpha is dropped

  friend bool operator==(const DecodeSettings&, const DecodeSettings&) = default;
};

// Downscaling of large images before they are stored. An image whose shorter side exceeds
// `short_side_px` is downscaled to it (shrink.h); an encoded one is encoded again as JPEG. 0:
// images stay as they are.
struct ResizeSettings {
  int short_side_px = 0;
  int quality = 90;  // JPEG quality, 1 to 100

  friend bool operator==(const ResizeSettings&, const ResizeSettings&) = default;
};

// Parses "ignore" or "apply"; nullopt for any other text.
std::optional<Orientation> parse_orientation(std::string_view text) noexcept;
std::string_view orientation_name(Orientation orientation) noexcept;

// Parses "white", "black" or "#rrggbb"; nullopt for any other text.
std::optional<Matte> parse_matte(std::string_view text) noexcept;
std::string to_text(const Matte& matte);  // "#rrggbb"

}  // namespace winnow::pipeline
