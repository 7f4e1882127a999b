#include "pipeline/decode/pnm.h"

#include <algorithm>
#include <cctype>

namespace winnow::pipeline {
namespace {

// The samples of a text form, in order: digits of bitmaps may stand together.
class TextSamples {
 public:
  TextSamples(std::string_view text, bool single_digits)
      : text_(text), single_digits_(single_digits) {}

  enum class Outcome { kNumber, kEnd, kNoNumber };

  Outcome next(std::uint32_t& value) {
    skip_space();
    if (at_ == text_.size()) return Outcome::kEnd;
    const std::size_t begin = at_;
    const std::size_t end = std::min(text_.size(), begin + (single_digits_ ? 1 : 6));
    value = 0;
    while (at_ < end && text_[at_] >= '0' && text_[at_] <= '9') {
      value = value * 10 + static_cast<std::uint32_t>(text_[at_++] - '0');
    }
    return at_ == begin ? Outcome::kNoNumber : Outcome::kNumber;
  }

 private:
  void skip_space() {
    while (at_ < text_.size()) {
      if (text_[at_] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
        ++at_;
      } else {
        return;
      }
    }
  }

  std::string_view text_;
  bool single_digits_;
  std::size_t at_ = 0;
};

// White is max_value; files of 16 bits are reduced as those of other formats are.
std::uint8_t to_8_bits(std::uint32_t value, std::uint32_t max_value) {
  if (max_value == 65535) return static_cast<std::uint8_t>(value >> 8);
  return static_cast<std::uint8_t>((std::min(value, max_value) * 255 + max_value / 2) / max_value);
}

}  // namespace

Expected<Image, DecodeError> decode_pnm(BytesView encoded, const Header& header) {
  Image image(static_cast<int>(header.height_px), static_cast<int>(header.width_px),
              header.gray ? 1 : 3);
  const char kind = static_cast<char>(encoded[1]);
  const BytesView samples = encoded.subspan(header.pixels_at);
  const auto byte = [&](std::size_t i) { return std::to_integer<std::uint32_t>(samples[i]); };
  const bool bitmap = kind == '1' || kind == '4';  // 1 is black
  if (kind < '4') {
    TextSamples text(as_text(samples), bitmap);
    for (std::uint8_t& p : image.pixels) {
      std::uint32_t value = 0;
      const auto outcome = text.next(value);
      if (outcome == TextSamples::Outcome::kEnd) {
        return DecodeError{DecodeError::Kind::kTruncated, "the PNM ends within its pixels"};
      }
      if (outcome == TextSamples::Outcome::kNoNumber || value > header.max_value) {
        return DecodeError{DecodeError::Kind::kCorrupt,
                           "a pixel of the PNM is no number it may be"};
      }
      p = to_8_bits(bitmap ? 1 - value : value, header.max_value);
    }
  } else if (bitmap) {
    const std::size_t line_bytes = (static_cast<std::size_t>(image.width_px) + 7) / 8;
    for (int y = 0; y < image.height_px; ++y) {
      for (int x = 0; x < image.width_px; ++x) {
        const std::size_t at =
            static_cast<std::size_t>(y) * line_bytes + static_cast<std::size_t>(x) / 8;
        const bool black = (byte(at) >> (7 - x % 8) & 1) != 0;
        image.pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width_px) +
                     static_cast<std::size_t>(x)] = black ? 0 : 255;
      }
    }
  } else if (header.max_value <= 255) {
    for (std::size_t i = 0; i < image.pixels.size(); ++i) {
      image.pixels[i] = to_8_bits(byte(i), header.max_value);
    }
  } else {
    for (std::size_t i = 0; i < image.pixels.size(); ++i) {
      image.pixels[i] = to_8_bits(byte(2 * i) << 8 | byte(2 * i + 1), header.max_value);
    }
  }
  return image;
}

}  // namespace winnow::pipeline
