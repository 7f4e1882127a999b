#include "pipeline/decode/pnm.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <span>

#include "pipeline/decode/errors_internal.h"

namespace winnow::pipeline {
namespace {

// Reads the samples of a text form, in order. Digits of bitmaps need no separator.
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

// Scales to 8 bits; max_value is white. 16 bits are reduced as in other formats.
std::uint8_t to_8_bits(std::uint32_t value, std::uint32_t max_value) {
  if (max_value == 65535) return static_cast<std::uint8_t>(value >> 8);
  return static_cast<std::uint8_t>((std::min(value, max_value) * 255 + max_value / 2) / max_value);
}

// Calls `read` for consecutive pieces of `count` samples until it returns an error.
std::optional<DecodeError> in_pieces(std::size_t count, const StopRequested& stop,
                                     const auto& read) {
  constexpr std::size_t kSamples = 1u << 18;
  for (std::size_t begin = 0; begin < count; begin += kSamples) {
    end_if_stopped(stop);
    if (auto error = read(begin, std::min(count, begin + kSamples))) return error;
  }
  return std::nullopt;
}

// In a bitmap, 1 is black.
std::optional<DecodeError> read_text(TextSamples& text, const Header& header, bool bitmap,
                                     std::span<std::uint8_t> pixels) {
  for (std::uint8_t& p : pixels) {
    std::uint32_t value = 0;
    const auto outcome = text.next(value);
    if (outcome == TextSamples::Outcome::kEnd) return truncated("the PNM ends within its pixels");
    if (outcome == TextSamples::Outcome::kNoNumber || value > header.max_value) {
      return corrupt("a pixel of the PNM is not a number up to its maximum value");
    }
    p = to_8_bits(bitmap ? 1 - value : value, header.max_value);
  }
  return std::nullopt;
}

// Rows begin at a byte.
void read_bits(BytesView samples, std::size_t width, std::size_t begin,
               std::span<std::uint8_t> pixels) {
  const std::size_t line_bytes = (width + 7) / 8;
  std::size_t x = begin % width;
  std::size_t line = begin / width * line_bytes;
  for (std::uint8_t& p : pixels) {
    const auto byte = std::to_integer<std::uint32_t>(samples[line + x / 8]);
    p = (byte >> (7 - x % 8) & 1) != 0 ? 0 : 255;
    if (++x < width) continue;
    x = 0;
    line += line_bytes;
  }
}

void read_samples(BytesView samples, std::uint32_t max_value, std::size_t begin,
                  std::span<std::uint8_t> pixels) {
  const auto byte = [&](std::size_t i) { return std::to_integer<std::uint32_t>(samples[i]); };
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const std::size_t at = begin + i;
    const std::uint32_t value = max_value <= 255 ? byte(at) : byte(2 * at) << 8 | byte(2 * at + 1);
    pixels[i] = to_8_bits(value, max_value);
  }
}

}  // namespace

Expected<Image, DecodeError> decode_pnm(BytesView encoded, const Header& header,
                                        const StopRequested& stop) {
  Image image(static_cast<int>(header.height_px), static_cast<int>(header.width_px),
              header.gray ? 1 : 3);
  const char kind = static_cast<char>(encoded[1]);
  const BytesView samples = encoded.subspan(header.pixels_at);
  const bool bitmap = kind == '1' || kind == '4';
  TextSamples text(as_text(samples), bitmap);
  const std::span<std::uint8_t> pixels(image.pixels);
  auto error = in_pieces(pixels.size(), stop,
                         [&](std::size_t begin, std::size_t end) -> std::optional<DecodeError> {
                           const auto piece = pixels.subspan(begin, end - begin);
                           if (kind < '4') return read_text(text, header, bitmap, piece);
                           if (bitmap) {
                             read_bits(samples, header.width_px, begin, piece);
                           } else {
                             read_samples(samples, header.max_value, begin, piece);
                           }
                           return std::nullopt;
                         });
  if (error) return *std::move(error);
  return image;
}

}  // namespace winnow::pipeline
