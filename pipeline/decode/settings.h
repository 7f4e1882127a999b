#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace winnow::pipeline {

// Handling of the orientation in a file's metadata: ignored, as by torchvision; or applied, as by
// Pillow's ImageOps.exif_transpose.
enum class Orientation { kIgnore, kApply };

// The background for transparent pixels.
struct Matte {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;

  bool is_gray() const noexcept { return red == green && green == blue; }
  friend bool operator==(const Matte&, const Matte&) = default;
};

// Everything besides its bytes that decides which pixels a file has, or that it has none: part of a
// cache's content. Code that decodes a cache's images must use the settings in its manifest
// (pipeline/store/settings.h), to get the fingerprinted pixels.
struct DecodeSettings {
  std::uint64_t max_pixels = 178'956'970;  // Pillow's limit
  int max_scans = 500;                     // for a JPEG: otherwise a small file could take minutes
  Orientation orientation = Orientation::kIgnore;
  std::optional<Matte> matte{};  // nullopt: alpha is dropped

  friend bool operator==(const DecodeSettings&, const DecodeSettings&) = default;
};

// Reduction of large images for storage. An image whose shorter side exceeds `short_side_px` is
// reduced (shrink.h); if it was encoded, it is encoded again as JPEG. 0: images stay as they are.
struct ResizeSettings {
  int short_side_px = 0;
  int quality = 90;  // JPEG quality, 1 to 100

  friend bool operator==(const ResizeSettings&, const ResizeSettings&) = default;
};

// Parses "ignore" or "apply"; nullopt for other texts.
std::optional<Orientation> parse_orientation(std::string_view text) noexcept;
std::string_view orientation_name(Orientation orientation) noexcept;

// Parses "white", "black" or "#rrggbb"; nullopt for other texts.
std::optional<Matte> parse_matte(std::string_view text) noexcept;
std::string to_text(const Matte& matte);  // "#rrggbb"

}  // namespace winnow::pipeline
