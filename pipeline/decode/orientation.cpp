#include "pipeline/decode/orientation.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "pipeline/decode/fields_internal.h"

namespace winnow::pipeline {
namespace {

using namespace std::string_view_literals;

constexpr int kUpright = 1;

// Metadata that may contain the orientation.
struct Metadata {
  Bytes exif;  // a TIFF, perhaps after "Exif\0\0"; empty: none
  std::string xmp;
};

// Bytes per value of a TIFF type; 0: unknown.
std::uint64_t bytes_of_type(std::uint32_t type) {
  constexpr std::array<std::uint8_t, 17> kBytes{0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8};
  return type < kBytes.size() ? kBytes[type] : 0;
}

double signed_of(std::uint32_t value, int bits) {
  const std::int64_t sign = std::int64_t{1} << (bits - 1);
  return static_cast<double>((static_cast<std::int64_t>(value) ^ sign) - sign);
}

// The first value of an entry of any numeric type, as Pillow compares it with 1 to 8.
double value_at(const Fields& f, std::uint32_t type, std::uint64_t at, bool big_endian) {
  const std::uint64_t upper = f.u32(at + (big_endian ? 0 : 4));
  const std::uint64_t wide = upper << 32 | f.u32(at + (big_endian ? 4 : 0));
  switch (type) {
    case 3:
      return f.u16(at);
    case 4:
    case 13:
      return f.u32(at);
    case 5:
      return f.u32(at) / static_cast<double>(f.u32(at + 4));
    case 6:
      return signed_of(f.u8(at), 8);
    case 8:
      return signed_of(f.u16(at), 16);
    case 9:
      return signed_of(f.u32(at), 32);
    case 10:
      return signed_of(f.u32(at), 32) / signed_of(f.u32(at + 4), 32);
    case 11:
      return static_cast<double>(std::bit_cast<float>(f.u32(at)));
    case 12:
      return std::bit_cast<double>(wide);
    case 16:
      return static_cast<double>(wide);
    default:
      return 0;  // texts and bytes
  }
}

// The orientation in a TIFF directory (EXIF 2.32 section 4.6): the first such entry with a value.
// Values other than 1 to 8 mean upright; nullopt if there is no entry.
std::optional<int> orientation_in(BytesView exif) {
  const std::string_view head = as_text(exif).substr(0, 4);
  if (head != "II\x2A\0"sv && head != "MM\0\x2A"sv) return kUpright;  // Pillow stops here, too
  const bool big_endian = head[0] == 'M';
  const Fields f(exif, big_endian);
  const std::uint64_t directory = f.u32(4);
  const std::uint32_t entries = f.u16(directory);
  for (std::uint64_t i = 0; i < entries; ++i) {
    const std::uint64_t entry = directory + 2 + 12 * i;
    if (!f.has(entry, 12)) break;
    const std::uint32_t type = f.u16(entry + 2);
    const std::uint64_t bytes = bytes_of_type(type) * f.u32(entry + 4);
    if (bytes == 0) continue;
    const std::uint64_t at = bytes > 4 ? f.u32(entry + 8) : entry + 8;
    if (!f.has(at, bytes)) break;
    constexpr std::uint32_t kTag = 0x0112;
    if (f.u16(entry) != kTag) continue;
    const double value = value_at(f, type, at, big_endian);
    return value >= 1 && value <= 8 && value == std::floor(value) ? static_cast<int>(value)
                                                                  : kUpright;
  }
  return std::nullopt;
}

// Finds tiff:Orientation="6", or <tiff:Orientation>6<.
int orientation_in_xmp(std::string_view xmp) {
  constexpr std::string_view kName = "tiff:Orientation";
  for (std::size_t at = xmp.find(kName); at != xmp.npos; at = xmp.find(kName, at)) {
    at += kName.size();
    std::string_view rest = xmp.substr(at);
    if (rest.starts_with("=\""))
      rest.remove_prefix(1);
    else if (!rest.starts_with('>'))
      continue;
    if (rest.size() < 2 || rest[1] < '0' || rest[1] > '9') continue;
    const int value = rest[1] - '0';
    return value >= 1 && value <= 8 ? value : kUpright;
  }
  return kUpright;
}

void append(Bytes& to, BytesView bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); }

Metadata metadata_of_jpeg(BytesView encoded) {
  constexpr std::string_view kExif = "Exif\0\0"sv;
  constexpr std::string_view kXmp = "http://ns.adobe.com/xap/1.0/\0"sv;
  Metadata found;
  const Fields f(encoded, true);
  for (std::uint64_t at = 2; f.has(at, 4);) {
    if (f.u8(at) != 0xFF) break;
    const std::uint32_t marker = f.u8(at + 1);
    if (marker == 0xFF) {  // fill byte
      ++at;
      continue;
    }
    if (marker == 0xDA || marker == 0xD9) break;
    const std::uint64_t length = f.u16(at + 2);
    if (length < 2 || !f.has(at + 2, length)) break;
    const BytesView segment = f.bytes(at + 4, length - 2);
    if (marker == 0xE1 && as_text(segment).starts_with(kExif)) {
      append(found.exif, segment.subspan(found.exif.empty() ? 0 : kExif.size()));
    } else if (marker == 0xE1 && as_text(segment).starts_with(kXmp)) {
      found.xmp = as_text(segment).substr(kXmp.size());
    }
    at += 2 + length;
  }
  return found;
}

// Inflates at most a megabyte; returns what precedes any damage.
std::string inflated(std::string_view packed) {
  constexpr std::size_t kMost = 1 << 20;
  std::string text;
  z_stream stream{};
  if (::inflateInit(&stream) != Z_OK) throw std::bad_alloc();
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::array<char, 4096> piece{};
  int code = Z_OK;
  while (code == Z_OK && text.size() < kMost) {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    code = ::inflate(&stream, Z_NO_FLUSH);
    const std::size_t made = piece.size() - stream.avail_out;
    text.append(piece.data(), made);
    if (made == 0) break;
  }
  ::inflateEnd(&stream);
  return text;
}

// The text of a "tEXt", "zTXt" or "iTXt" chunk, after its keyword and the zero byte.
std::string text_of_chunk(std::string_view kind, std::string_view rest) {
  if (kind == "tEXt") return std::string(rest);
  if (kind == "zTXt") return rest.empty() ? "" : inflated(rest.substr(1));
  if (rest.size() < 2) return "";
  const bool is_packed = rest[0] != 0;
  rest.remove_prefix(2);
  for (int part = 0; part < 2; ++part) {  // language, and translated keyword
    const std::size_t end = rest.find('\0');
    rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
  }
  return is_packed ? inflated(rest) : std::string(rest);
}

// Decodes ImageMagick's form: a blank line, a name, a number of bytes, and these as hexadecimal
// digits. Empty if it is malformed.
Bytes bytes_of_profile(std::string_view text) {
  for (int line = 0; line < 3; ++line) {
    const std::size_t end = text.find('\n');
    if (end == text.npos) return {};
    text.remove_prefix(end + 1);
  }
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
  };
  Bytes bytes;
  int high = -1;
  for (const char c : text) {
    if (c == '\n') continue;
    const int value = digit(c);
    if (value < 0) return {};
    if (high >= 0) bytes.push_back(static_cast<std::byte>(high << 4 | value));
    high = high >= 0 ? -1 : value;
  }
  return bytes;
}

Metadata metadata_of_png(BytesView encoded) {
  Metadata found;
  // The last chunk of each name counts: only that one is decompressed.
  struct Text {
    std::string_view kind;
    std::string_view rest;
  };
  std::optional<Text> xmp;
  std::optional<Text> profile;
  const Fields f(encoded, true);
  for (std::uint64_t at = 8; f.has(at, 12);) {
    const std::uint64_t length = f.u32(at);
    if (!f.has(at + 12, length)) break;
    const std::string_view kind = f.text(at + 4, 4);
    const std::string_view data = f.text(at + 8, length);
    if (kind == "eXIf") {
      found.exif.assign(encoded.begin() + static_cast<std::ptrdiff_t>(at + 8),
                        encoded.begin() + static_cast<std::ptrdiff_t>(at + 8 + length));
    } else if (kind == "tEXt" || kind == "zTXt" || kind == "iTXt") {
      const std::size_t key = std::min(data.find('\0'), data.size());
      const std::string_view rest = data.substr(std::min(key + 1, data.size()));
      if (data.substr(0, key) == "XML:com.adobe.xmp") xmp = Text{kind, rest};
      if (data.substr(0, key) == "Raw profile type exif") profile = Text{kind, rest};
    }
    at += 12 + length;
  }
  if (xmp) found.xmp = text_of_chunk(xmp->kind, xmp->rest);
  if (found.exif.empty() && profile) {
    found.exif = bytes_of_profile(text_of_chunk(profile->kind, profile->rest));
  }
  return found;
}

Metadata metadata_of_webp(BytesView encoded) {
  Metadata found;
  const Fields f(encoded, false);
  constexpr std::uint32_t kHasExif = 8;
  constexpr std::uint32_t kHasXmp = 4;
  if (f.text(12, 4) != "VP8X") return found;
  for (std::uint64_t at = 12; f.has(at, 8);) {
    const std::uint64_t length = f.u32(at + 4);
    if (!f.has(at + 8, length)) break;
    const std::string_view kind = f.text(at, 4);
    if (kind == "EXIF" && (f.u8(20) & kHasExif) != 0) append(found.exif, f.bytes(at + 8, length));
    if (kind == "XMP " && (f.u8(20) & kHasXmp) != 0) found.xmp = f.text(at + 8, length);
    at += 8 + length + length % 2;
  }
  return found;
}

Metadata metadata_of(std::string_view format, BytesView encoded) {
  if (format == "jpeg") return metadata_of_jpeg(encoded);
  if (format == "png") return metadata_of_png(encoded);
  if (format == "webp") return metadata_of_webp(encoded);
  return {};
}

bool is_from_below(int orientation) noexcept {
  return orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
}
bool is_from_right(int orientation) noexcept {
  return orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
}

template <int kChannels>
void copy_turned(const Image& in, int orientation, Image& out) {
  const bool transposed = orientation >= 5;
  const bool from_below = is_from_below(orientation);
  const bool from_right = is_from_right(orientation);
  const std::ptrdiff_t column_step = kChannels;
  const std::ptrdiff_t row_step = std::ptrdiff_t{in.width_px} * kChannels;
  // The source of the output's first pixel, and the source steps for the output's axes.
  const std::uint8_t* first = in.pixels.data() + (from_below ? (in.height_px - 1) * row_step : 0) +
                              (from_right ? (in.width_px - 1) * column_step : 0);
  const std::ptrdiff_t down = from_below ? -row_step : row_step;
  const std::ptrdiff_t right = from_right ? -column_step : column_step;
  const std::ptrdiff_t step_x = transposed ? down : right;
  const std::ptrdiff_t step_y = transposed ? right : down;
  constexpr int kTile = 32;  // so that cache lines are reused while turning
  for (int top = 0; top < out.height_px; top += kTile) {
    for (int left = 0; left < out.width_px; left += kTile) {
      const int bottom = std::min(top + kTile, out.height_px);
      const int end = std::min(left + kTile, out.width_px);
      for (int y = top; y < bottom; ++y) {
        const std::uint8_t* from = first + y * step_y + left * step_x;
        std::uint8_t* to =
            out.pixels.data() + (std::ptrdiff_t{y} * out.width_px + left) * kChannels;
        for (int x = left; x < end; ++x, from += step_x) {
          for (int c = 0; c < kChannels; ++c) *to++ = from[c];
        }
      }
    }
  }
}

}  // namespace

int exif_orientation(std::string_view format, BytesView encoded) {
  const Metadata found = metadata_of(format, encoded);
  BytesView exif = found.exif;
  while (as_text(exif).starts_with("Exif\0\0"sv)) exif = exif.subspan(6);
  const auto tag = exif.empty() ? std::nullopt : orientation_in(exif);
  return tag ? *tag : orientation_in_xmp(found.xmp);
}

bool mirrors_rows(int orientation) noexcept {
  return swaps_sides(orientation) ? is_from_right(orientation) : is_from_below(orientation);
}

bool mirrors_columns(int orientation) noexcept {
  return swaps_sides(orientation) ? is_from_below(orientation) : is_from_right(orientation);
}

Box before_turn(const Box& box, int orientation, int stored_height_px,
                int stored_width_px) noexcept {
  Box stored = box;
  if (swaps_sides(orientation)) stored = {box.left, box.top, box.width_px, box.height_px};
  if (is_from_below(orientation)) stored.top = stored_height_px - stored.top - stored.height_px;
  if (is_from_right(orientation)) stored.left = stored_width_px - stored.left - stored.width_px;
  return stored;
}

void turn(Image& image, int orientation) {
  if (orientation <= kUpright || orientation > 8 || image.pixels.empty()) return;
  const bool transposed = orientation >= 5;
  Image out(transposed ? image.width_px : image.height_px,
            transposed ? image.height_px : image.width_px, image.channels);
  if (image.channels == 1) {
    copy_turned<1>(image, orientation, out);
  } else {
    copy_turned<3>(image, orientation, out);
  }
  image = std::move(out);
}

}  // namespace winnow::pipeline
