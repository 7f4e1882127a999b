#include <tiffio.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/decode/errors_internal.h"
#include "pipeline/decode/matte_internal.h"
#include "pipeline/decode/orientation.h"
#include "pipeline/decode/samples.h"
#include "pipeline/decode/tiff_directory_internal.h"
#include "pipeline/decode/tiff_internal.h"
#include "pipeline/decode/warnings_internal.h"

namespace winnow::pipeline {
namespace {

// The file as libtiff sees it: followed by another directory.
struct StackedFile {
  Bytes head;
  Bytes directory;

  StackedFile(const TiffDirectory& from, const TiffBlocks& blocks)
      : directory(stacked_directory(from, blocks)) {
    const BytesView begin = from.fields().bytes(0, from.head_bytes());
    head.assign(begin.begin(), begin.end());
    const std::uint64_t size = from.fields().size();
    const std::uint64_t at = size + size % 2;
    if (at > size) directory.insert(directory.begin(), std::byte{0});
    const std::size_t bytes = from.offset_bytes();
    for (std::size_t i = 0; i < bytes; ++i) {
      const std::size_t shift = 8 * (from.is_big_endian() ? bytes - 1 - i : i);
      head[head.size() - bytes + i] = static_cast<std::byte>(at >> shift & 255);
    }
  }
};

// The input of libtiff, and its messages.
struct Source {
  BytesView head;  // beginning of the file; the rest of it and then the directory follow
  const EncodedBytes* encoded = nullptr;
  BytesView directory;
  std::uint64_t at = 0;
  std::exception_ptr failure{};  // exception while reading
  bool gives_pixels = false;     // earlier messages concern the file's directory
  char error[256] = {};          // the first one
  DecodeError::Kind kind = DecodeError::Kind::kCorrupt;  // kind of the error
  char warning[256] = {};                                // the first one
  int warnings = 0;

  std::uint64_t size() const { return encoded->size() + directory.size(); }
  // Reads as many bytes as one of the three areas has.
  std::size_t read(std::span<std::byte> to) const {
    const auto copy = [&](BytesView from, std::uint64_t begin) {
      const std::size_t some = std::min<std::size_t>(to.size(), from.size() - begin);
      std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(begin), some, to.begin());
      return some;
    };
    if (at < head.size()) return copy(head, at);
    if (at >= encoded->size()) return copy(directory, at - encoded->size());
    const std::size_t some = std::min<std::uint64_t>(to.size(), encoded->size() - at);
    encoded->read_at(at, to.first(some));
    return some;
  }
};

// No exception may pass through libtiff. On failure returns 0, not -1: libtiff 4.5 adds -1 to its
// count and writes in front of its buffer.
tmsize_t read_some(thandle_t handle, void* to, tmsize_t count) noexcept {
  auto& source = *static_cast<Source*>(handle);
  std::span<std::byte> rest(static_cast<std::byte*>(to), static_cast<std::size_t>(count));
  try {
    while (!rest.empty() && source.at < source.size()) {
      const std::size_t some = source.read(rest);
      source.at += some;
      rest = rest.subspan(some);
    }
  } catch (...) {
    source.failure = std::current_exception();
    return 0;
  }
  return count - static_cast<tmsize_t>(rest.size());
}

tmsize_t write_none(thandle_t, void*, tmsize_t) { return 0; }

toff_t seek_to(thandle_t handle, toff_t offset, int whence) {
  auto& source = *static_cast<Source*>(handle);
  if (whence == SEEK_CUR) offset += source.at;
  if (whence == SEEK_END) offset += source.size();
  source.at = std::min<std::uint64_t>(offset, source.size());
  return source.at;
}

int close_none(thandle_t) { return 0; }

toff_t size_of(thandle_t handle) { return static_cast<Source*>(handle)->size(); }

int on_error(TIFF*, void* handle, const char*, const char* format, va_list values) {
  auto& source = *static_cast<Source*>(handle);
  if (source.error[0] == '\0') std::vsnprintf(source.error, sizeof source.error, format, values);
  return 1;
}

// Whether a message is from a decoder of pixels. Others concern how a file was written, and are
// common in sound files: old kinds of JPEG and LZW, unterminated strips.
bool is_of_pixels(std::string_view module) {
  constexpr std::array<std::string_view, 4> kDecoders{"JPEG", "LibJpeg", "Fax", "PackBits"};
  return std::ranges::any_of(kDecoders, [&](auto name) { return module.starts_with(name); });
}

// The kind of a warning after which libtiff continues without a part of the picture; nullopt for
// other warnings.
std::optional<DecodeError::Kind> kind_of_loss(std::string_view warning) {
  using Kind = DecodeError::Kind;
  constexpr std::array<std::pair<std::string_view, Kind>, 5> kLosses{
      {{"Premature end of JPEG file", Kind::kTruncated},
       {"Corrupt JPEG data: premature end of data segment", Kind::kCorrupt},
       {"Improper JPEG strip/tile size", Kind::kCorrupt},
       {"Premature EOF", Kind::kTruncated},
       {"Premature EOL", Kind::kTruncated}}};
  for (const auto& [words, kind] : kLosses) {
    if (warning.starts_with(words)) return kind;
  }
  return std::nullopt;
}

int on_warning(TIFF*, void* handle, const char* module, const char* format, va_list values) {
  auto& source = *static_cast<Source*>(handle);
  if (!source.gives_pixels || !is_of_pixels(module)) return 1;
  char warning[sizeof source.warning];
  std::vsnprintf(warning, sizeof warning, format, values);
  const auto kind = kind_of_loss(warning);
  if (kind && source.error[0] == '\0') {
    std::memcpy(source.error, warning, sizeof warning);
    source.kind = *kind;
  }
  if (source.warnings++ == 0) std::memcpy(source.warning, warning, sizeof warning);
  return 1;
}

struct CloseTiff {
  void operator()(TIFF* tiff) const noexcept { TIFFClose(tiff); }
};
struct FreeOptions {
  void operator()(TIFFOpenOptions* options) const noexcept { TIFFOpenOptionsFree(options); }
};

// An open libtiff handle of the file, which must outlive it.
class Reading {
 public:
  // mode  As for libtiff.
  Reading(const EncodedBytes& encoded, const StackedFile& file, const char* mode,
          std::uint64_t most_bytes)
      : source_(std::make_unique<Source>()) {
    source_->head = file.head;
    source_->encoded = &encoded;
    source_->directory = file.directory;
    const std::unique_ptr<TIFFOpenOptions, FreeOptions> options(TIFFOpenOptionsAlloc());
    if (!options) throw std::bad_alloc();
    TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), static_cast<tmsize_t>(most_bytes));
    TIFFOpenOptionsSetErrorHandlerExtR(options.get(), on_error, source_.get());
    TIFFOpenOptionsSetWarningHandlerExtR(options.get(), on_warning, source_.get());
    tiff_.reset(TIFFClientOpenExt("TIFF", mode, source_.get(), read_some, write_none, seek_to,
                                  close_none, size_of, nullptr, nullptr, options.get()));
  }

  TIFF* get() const noexcept { return tiff_.get(); }  // null if it cannot be opened
  // Rethrows an exception of reading the file.
  DecodeError error() const {
    if (source_->failure) std::rethrow_exception(source_->failure);
    const char* said = source_->error[0] == '\0' ? "cannot decode it" : source_->error;
    return {source_->kind, std::string("libtiff: ") + said};
  }

  // From now on messages concern pixels.
  void begin_pixels() {
    source_->gives_pixels = true;
    source_->error[0] = '\0';
  }
  // Whether data read since then may be incomplete, whatever libtiff returned.
  bool has_failed() const noexcept { return source_->error[0] != '\0' || source_->failure; }
  std::string first_warning() const { return source_->warning; }
  int warnings() const noexcept { return source_->warnings; }

  std::uint16_t number(std::uint32_t tag) const {
    std::uint16_t value = 0;
    TIFFGetFieldDefaulted(tiff_.get(), tag, &value);
    return value;
  }

 private:
  std::unique_ptr<Source> source_;
  std::unique_ptr<TIFF, CloseTiff> tiff_;
};

// Converts samples to R, G, B, A in the bytes of an integer, from its lowest. `width` is the number
// of pixels in a row as stored.
class Colours {
 public:
  virtual ~Colours() = default;
  virtual std::size_t planes() const = 0;  // number of planes of the samples
  // The planes in `samples` follow each other, `plane_bytes` each.
  virtual void convert(std::uint8_t* samples, std::size_t plane_bytes, std::uint32_t width,
                       std::uint32_t rows, std::uint32_t* to) = 0;
};

// OpenCV's conversion of colours to gray, for up to 16 bits.
std::uint32_t gray_of(std::uint32_t red, std::uint32_t green, std::uint32_t blue) {
  return (4899 * red + 9617 * green + 1868 * blue + (1U << 13)) >> 14;
}

// Conversion by libtiff, for 8 bits.
class LibtiffColours : public Colours {
 public:
  ~LibtiffColours() override {
    if (begun_) TIFFRGBAImageEnd(&image_);
  }

  // Must be called first. An error if libtiff does not support these samples.
  std::optional<DecodeError> begin(TIFF* tiff) {
    constexpr int kStopOnError = 1;
    char message[1024] = {};
    begun_ = TIFFRGBAImageBegin(&image_, tiff, kStopOnError, message) != 0;
    if (begun_) return std::nullopt;
    std::string_view reason(message);
    constexpr std::string_view kSorry = "Sorry, ";
    if (reason.starts_with(kSorry)) reason.remove_prefix(kSorry.size());
    return unsupported("has samples of an unsupported kind (libtiff: " + std::string(reason) +
                       "); convert it to gray or RGB of 8 bits");
  }

  std::size_t planes() const override {
    if (image_.isContig != 0) return 1;
    return colours() + (image_.alpha != 0 ? 1 : 0);
  }

  void convert(std::uint8_t* samples, std::size_t plane_bytes, std::uint32_t width,
               std::uint32_t rows, std::uint32_t* to) override {
    if (image_.isContig != 0) {
      image_.put.contig(&image_, to, 0, 0, width, rows, 0, 0, samples);
      return;
    }
    const bool is_gray = colours() == 1;
    image_.put.separate(&image_, to, 0, 0, width, rows, 0, 0, samples,
                        samples + (is_gray ? 0 : plane_bytes),
                        samples + (is_gray ? 0 : 2 * plane_bytes),
                        image_.alpha != 0 ? samples + colours() * plane_bytes : nullptr);
  }

 private:
  std::size_t colours() const { return image_.photometric <= PHOTOMETRIC_MINISBLACK ? 1 : 3; }

  TIFFRGBAImage image_{};
  bool begun_ = false;
};

// Samples of 10, 12, 14 or 16 bits each, as stored. The value of white in a gray TIFF is ignored.
class DeepColours : public Colours {
 public:
  DeepColours(int bits, std::size_t samples, bool separate, bool gray)
      : bits_(bits), samples_(samples), separate_(separate), gray_(gray) {}

  std::size_t planes() const override { return separate_ ? samples_ : 1; }

  void convert(std::uint8_t* samples, std::size_t plane_bytes, std::uint32_t width,
               std::uint32_t rows, std::uint32_t* to) override {
    const std::size_t row_bytes = plane_bytes / rows;
    const std::size_t step = separate_ ? 1 : samples_;
    const std::size_t next = separate_ ? plane_bytes : 0;
    for (std::uint32_t y = 0; y < rows; ++y) {
      const std::uint8_t* row = samples + y * row_bytes;
      for (std::uint32_t x = 0; x < width; ++x) {
        std::array<std::uint32_t, 4> values{};
        for (std::size_t s = 0; s < samples_; ++s) {
          values[s] = value(row + s * next, x * step + (separate_ ? 0 : s));
        }
        *to++ = packed(values);
      }
    }
  }

 private:
  // Scaled to 16 bits.
  std::uint32_t value(const std::uint8_t* row, std::size_t i) const {
    if (bits_ == 16) {
      std::uint16_t sample = 0;  // in native byte order
      std::memcpy(&sample, row + 2 * i, 2);
      return sample;
    }
    std::uint32_t sample = 0;
    for (std::size_t bit = i * static_cast<std::size_t>(bits_), end = bit + bits_; bit < end;) {
      const std::size_t some = std::min(8 - bit % 8, end - bit);
      const std::uint32_t byte = row[bit / 8] >> (8 - bit % 8 - some);
      sample = sample << some | (byte & ((1U << some) - 1));
      bit += some;
    }
    return sample << (16 - bits_);
  }

  std::uint32_t packed(const std::array<std::uint32_t, 4>& values) const {
    constexpr std::uint32_t kOpaque = 255;
    std::array<std::uint32_t, 3> rgb{values[0], values[1], values[2]};
    if (samples_ < 3) rgb = {values[0], values[0], values[0]};
    if (samples_ >= 3 && gray_) {
      // As OpenCV: additional samples of gray count as colours.
      rgb.fill(gray_of(rgb[0], rgb[1], rgb[2]));
    }
    const std::uint32_t alpha = samples_ == 4 ? values[3] >> 8 : kOpaque;
    return rgb[0] >> 8 | rgb[1] >> 8 << 8 | rgb[2] >> 8 << 16 | alpha << 24;
  }

  int bits_;
  std::size_t samples_;
  bool separate_;
  bool gray_;
};

// The sample format, as reported by libtiff.
struct Format {
  explicit Format(const Reading& reading)
      : bits(reading.number(TIFFTAG_BITSPERSAMPLE)),
        samples(reading.number(TIFFTAG_SAMPLESPERPIXEL)),
        photometric(reading.number(TIFFTAG_PHOTOMETRIC)),
        separate(samples > 1 && reading.number(TIFFTAG_PLANARCONFIG) == PLANARCONFIG_SEPARATE),
        is_unsigned(reading.number(TIFFTAG_SAMPLEFORMAT) == SAMPLEFORMAT_UINT) {}

  bool is_gray() const { return photometric <= PHOTOMETRIC_MINISBLACK; }
  bool is_deep() const { return bits > 8 && photometric <= PHOTOMETRIC_RGB && samples != 2; }
  // Channels of the picture; palettes of two colours become gray.
  int channels() const {
    if (photometric == PHOTOMETRIC_PALETTE && bits == 8) return 3;
    return is_gray() || samples == 1 ? 1 : 3;
  }

  int bits;
  std::size_t samples;
  int photometric;
  bool separate;
  bool is_unsigned;
};

std::optional<DecodeError> check(const Reading& reading, const Format& format) {
  std::uint16_t photometric = 0;
  if (TIFFGetField(reading.get(), TIFFTAG_PHOTOMETRIC, &photometric) != 1) {
    return corrupt("the TIFF does not say what its samples mean");
  }
  constexpr std::array kBits{1, 8, 10, 12, 14, 16};
  if (std::find(kBits.begin(), kBits.end(), format.bits) == kBits.end()) {
    return unsupported("has samples of " + std::to_string(format.bits) +
                       " bits; convert it to 8 bits");
  }
  if (!format.is_unsigned) {
    return unsupported("has samples that are not unsigned numbers; convert it to 8 bits");
  }
  return std::nullopt;
}

// Declares alpha as premultiplied, so that libtiff leaves the colours unchanged.
void keep_straight_alpha(TIFF* tiff) {
  std::uint16_t count = 0;
  std::uint16_t* kinds = nullptr;
  if (TIFFGetField(tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds) != 1 || count == 0) return;
  std::vector<std::uint16_t> changed(kinds, kinds + count);
  changed[0] = EXTRASAMPLE_ASSOCALPHA;
  TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, count, changed.data());
}

Expected<std::unique_ptr<Colours>, DecodeError> make_colours(const Reading& reading,
                                                             const Format& format) {
  if (format.is_deep()) {
    return std::unique_ptr<Colours>(std::make_unique<DeepColours>(
        format.bits, format.samples, format.separate, format.is_gray()));
  }
  auto colours = std::make_unique<LibtiffColours>();
  if (auto error = colours->begin(reading.get())) return *std::move(error);
  return std::unique_ptr<Colours>(std::move(colours));
}

// Reads samples of consecutive rows. Each plane has its own handle, which continues where it was.
class Samples {
 public:
  Samples(const std::vector<Reading>& planes, bool at_once) : planes_(planes), at_once_(at_once) {}

  // Size of a plane of `rows` rows in bytes.
  std::size_t plane_bytes(std::uint32_t rows) const {
    TIFF* first = planes_[0].get();
    return static_cast<std::size_t>(at_once_ ? TIFFVStripSize(first, rows)
                                             : TIFFScanlineSize(first) * rows);
  }

  // Reads rows of the stack within one block; from the block's first row if at once.
  std::optional<DecodeError> read(std::uint32_t row, std::uint32_t rows) {
    const std::size_t size = plane_bytes(rows);
    samples_.resize(size * planes_.size());
    for (std::size_t plane = 0; plane < planes_.size(); ++plane) {
      std::uint8_t* to = samples_.data() + plane * size;
      const bool is_read = read_plane(static_cast<std::uint16_t>(plane), row, rows, to);
      if (!is_read || planes_[plane].has_failed()) return planes_[plane].error();
    }
    return std::nullopt;
  }

  std::uint8_t* data() { return samples_.data(); }

 private:
  bool read_plane(std::uint16_t plane, std::uint32_t row, std::uint32_t rows, std::uint8_t* to) {
    TIFF* tiff = planes_[plane].get();
    const std::size_t size = plane_bytes(rows);
    if (at_once_) {
      const std::uint32_t strip = TIFFComputeStrip(tiff, row, plane);
      return TIFFReadEncodedStrip(tiff, strip, to, static_cast<tmsize_t>(size)) >= 0;
    }
    for (std::uint32_t y = 0; y < rows; ++y) {
      if (TIFFReadScanline(tiff, to + y * (size / rows), row + y, plane) != 1) return false;
    }
    return true;
  }

  const std::vector<Reading>& planes_;
  bool at_once_;
  std::vector<std::uint8_t> samples_;
};

// Copies one row of R, G, B, A to an image.
void put_row(const std::uint32_t* from, std::size_t width, int channels, std::uint8_t* to) {
  for (const std::uint32_t* end = from + width; from < end; ++from) {
    const std::uint32_t red = TIFFGetR(*from);
    const std::uint32_t green = TIFFGetG(*from);
    const std::uint32_t blue = TIFFGetB(*from);
    if (channels == 1) {
      *to++ = static_cast<std::uint8_t>(gray_of(red, green, blue));
    } else {
      *to++ = static_cast<std::uint8_t>(red);
      *to++ = static_cast<std::uint8_t>(green);
      *to++ = static_cast<std::uint8_t>(blue);
    }
  }
}

void put_row_upon(const Matte& matte, bool multiplied, const std::uint32_t* from, std::size_t width,
                  std::uint8_t* to) {
  const std::array<int, 3> under{matte.red, matte.green, matte.blue};
  for (const std::uint32_t* end = from + width; from < end; ++from) {
    const auto alpha = static_cast<int>(TIFFGetA(*from));
    for (std::size_t c = 0; c < 3; ++c) {
      auto colour = static_cast<int>(*from >> (8 * c) & 255);
      if (multiplied) colour = divided(colour, alpha);
      *to++ = composed_over(under[c], colour, alpha);
    }
  }
}

// Converts samples to the pixels of a picture, or of a band of its rows.
class Picture {
 public:
  // keep_alpha  If the samples have alpha.
  Picture(const TiffBlocks& blocks, const Header& header, int channels,
          const std::optional<Matte>& matte, bool keep_alpha, std::uint32_t band_rows)
      : blocks_(blocks),
        matte_(header.alpha == Alpha::kNone ? std::nullopt : matte),
        is_multiplied_(header.alpha == Alpha::kMultiplied),
        image_(static_cast<int>(band_rows), static_cast<int>(blocks.width_px), channels) {
    if (keep_alpha) alpha_ = Image(image_.height_px, image_.width_px, 1);
  }

  // Reads rows [from, to) to the beginning of the image, piece by piece. They must begin and end
  // with blocks if these are tiles or read at once.
  std::optional<DecodeError> read(Samples& samples, Colours& colours, std::uint32_t piece_rows,
                                  const StopRequested& stop, std::uint32_t from, std::uint32_t to) {
    first_row_ = from;
    const auto width = static_cast<std::uint32_t>(blocks_.block_width_px);
    const auto height = static_cast<std::uint32_t>(blocks_.block_height_px);
    const auto across = static_cast<std::uint32_t>(blocks_.across());
    std::vector<std::uint32_t> rgba(std::size_t{width} * piece_rows);
    for (std::uint32_t block = from / height * across; block < blocks_.count(); ++block) {
      const std::uint32_t top = block / across * height;
      const std::uint32_t left = block % across * width;
      if (top >= to) break;
      const std::uint32_t end = std::min(top + height, to) - top;
      for (std::uint32_t y = from > top ? from - top : 0; y < end; y += piece_rows) {
        end_if_stopped(stop);
        const std::uint32_t rows = std::min(piece_rows, end - y);
        if (auto error = samples.read(block * height + y, rows)) return error;
        colours.convert(samples.data(), samples.plane_bytes(rows), width, rows, rgba.data());
        for (std::uint32_t i = 0; i < rows; ++i) {
          put(rgba.data() + std::size_t{i} * width, top + y + i, left);
        }
      }
    }
    return std::nullopt;
  }

  const Image& image() const noexcept { return image_; }
  Image take() { return std::move(image_); }
  Image take_alpha() { return std::move(alpha_); }  // empty if it was not kept

 private:
  void put(const std::uint32_t* from, std::size_t y, std::size_t left) {
    const std::size_t width =
        std::min<std::size_t>(blocks_.block_width_px, blocks_.width_px - left);
    const auto channels = static_cast<std::size_t>(image_.channels);
    const std::size_t first = (y - first_row_) * blocks_.width_px + left;
    std::uint8_t* to = image_.pixels.data() + first * channels;
    if (!alpha_.pixels.empty()) {
      std::transform(from, from + width, alpha_.pixels.data() + first,
                     [](std::uint32_t rgba) { return static_cast<std::uint8_t>(TIFFGetA(rgba)); });
    }
    if (matte_) {
      put_row_upon(*matte_, is_multiplied_, from, width, to);
    } else {
      put_row(from, width, image_.channels, to);
    }
  }

  const TiffBlocks& blocks_;
  std::optional<Matte> matte_;
  bool is_multiplied_;
  std::uint32_t first_row_ = 0;
  Image image_;
  Image alpha_;
};

bool keeps_alpha(const Header& header, const Format& format, const DecodeHooks& hooks) {
  const bool is_gray = format.samples == 2 && format.bits <= 8 && format.is_gray();
  const bool is_colour = format.samples == 4 && format.channels() == 3;
  return hooks.keep_alpha && header.alpha != Alpha::kNone && (is_gray || is_colour);
}

DecodedImage turned(Picture& picture, const Header& header) {
  const int orientation = header.orientation;
  Image image = picture.take();
  Image alpha = picture.take_alpha();
  turn(image, orientation);
  turn(alpha, orientation);
  DecodedImage out(std::move(image));
  keep_unless_opaque(out, std::move(alpha), header);
  return out;
}

// A TIFF that is ready to be read.
class OpenTiff {
 public:
  explicit OpenTiff(EncodedBytes encoded) : directory_(std::move(encoded)) {}

  // Must be called first. An error if libtiff does not support the file.
  std::optional<DecodeError> open(const Header& header) {
    if (auto error = directory_.read()) return error;
    blocks_ = blocks_of(directory_);
    file_.emplace(directory_, blocks_);
    const bool at_once = is_block_read_at_once(directory_, blocks_);
    const char* mode = at_once ? "rc" : "r";  // c: do not divide a single strip
    constexpr std::uint64_t kTables = 16u << 20;
    const auto open_one = [&] {
      readings_.emplace_back(directory_.fields().encoded(), *file_, mode,
                             header.work_bytes + kTables);
      return readings_.back().get() != nullptr;
    };
    if (!open_one()) return readings_.back().error();
    if (header.alpha == Alpha::kStraight) keep_straight_alpha(readings_[0].get());
    format_.emplace(readings_[0]);
    if (auto error = check(readings_[0], *format_)) return error;
    auto colours = make_colours(readings_[0], *format_);
    if (!colours) return colours.error();
    colours_ = *std::move(colours);
    while (readings_.size() < colours_->planes()) {
      if (!open_one()) return readings_.back().error();
    }
    for (Reading& reading : readings_) reading.begin_pixels();
    samples_.emplace(readings_, at_once);
    return std::nullopt;
  }

  Picture picture(const Header& header, const std::optional<Matte>& matte, const DecodeHooks& hooks,
                  std::uint32_t rows) const {
    const bool is_laid = format_->samples == 4 && format_->channels() == 3;
    const bool keep_alpha = keeps_alpha(header, *format_, hooks) && !(is_laid && matte);
    return {blocks_, header, format_->channels(), is_laid ? matte : std::nullopt, keep_alpha, rows};
  }

  std::optional<DecodeError> read(Picture& picture, std::uint32_t from, std::uint32_t to,
                                  const StopRequested& stop) {
    const auto rows = static_cast<std::uint32_t>(piece_rows(directory_, blocks_));
    return picture.read(*samples_, *colours_, rows, stop, from, to);
  }

  const TiffBlocks& blocks() const noexcept { return blocks_; }
  int channels() const { return format_->channels(); }
  // Number of rows that are read together: a row of blocks, or a piece of one.
  std::uint64_t band_rows() const {
    const bool whole_blocks = blocks_.tiled || is_block_read_at_once(directory_, blocks_);
    return std::min(whole_blocks ? blocks_.block_height_px : piece_rows(directory_, blocks_),
                    blocks_.height_px);
  }
  // Records libtiff's messages so far.
  void note(DecodedImage& image) const {
    std::string first;
    int warnings = 0;
    for (const Reading& reading : readings_) {
      if (warnings == 0) first = reading.first_warning();
      warnings += reading.warnings();
    }
    note_warnings(image, std::move(first), warnings);
  }

 private:
  TiffDirectory directory_;
  TiffBlocks blocks_;
  std::optional<StackedFile> file_;
  std::vector<Reading> readings_;
  std::optional<Format> format_;
  std::unique_ptr<Colours> colours_;
  std::optional<Samples> samples_;
};

class TiffRows final : public PictureRows {
 public:
  TiffRows(const EncodedBytes& encoded, const Header& header, const RowLimits& limits)
      : tiff_(encoded), header_(header), stop_(limits.stop) {}

  std::optional<DecodeError> open(const std::optional<Matte>& matte, const RowLimits& limits) {
    if (auto error = tiff_.open(header_)) return error;
    const std::uint64_t rows = tiff_.band_rows();
    const std::uint64_t bytes =
        rows * tiff_.blocks().width_px * static_cast<std::uint64_t>(tiff_.channels());
    if (bytes + header_.work_bytes > limits.memory_bytes) {
      return too_large("is a TIFF whose strips or tiles take " +
                       std::to_string((bytes + header_.work_bytes) >> 20) +
                       " MiB at once, more than --memory-limit allows");
    }
    band_.emplace(tiff_.picture(header_, matte, {}, static_cast<std::uint32_t>(rows)));
    return std::nullopt;
  }

  Size size() const noexcept override {
    return {static_cast<int>(tiff_.blocks().height_px), static_cast<int>(tiff_.blocks().width_px)};
  }
  int channels() const noexcept override { return tiff_.channels(); }
  int orientation() const noexcept override { return header_.orientation; }

  std::optional<DecodeError> read(int rows, std::uint8_t* to) override {
    const std::size_t row_bytes =
        static_cast<std::size_t>(size().width_px) * static_cast<std::size_t>(tiff_.channels());
    for (const auto end = next_ + static_cast<std::uint32_t>(rows); next_ < end;) {
      if (next_ == band_end_) {
        if (auto error = read_band(band_end_)) return error;
      }
      const std::uint32_t some = std::min(end, band_end_) - next_;
      to = std::copy_n(band_->image().pixels.data() + (next_ - band_begin_) * row_bytes,
                       some * row_bytes, to);
      next_ += some;
    }
    return std::nullopt;
  }

  // Many codecs can only decode a row after those before it in its strip.
  std::optional<DecodeError> skip(int rows) override {
    next_ += static_cast<std::uint32_t>(rows);
    const auto high = static_cast<std::uint32_t>(rows_to_reach());
    const std::uint32_t begin = next_ / high * high;
    if (begin > band_end_) band_begin_ = band_end_ = begin;
    while (band_end_ < next_) {
      if (auto error = read_band(band_end_)) return error;
    }
    return std::nullopt;
  }

  int rows_to_reach() const noexcept override {
    return static_cast<int>(std::min(tiff_.blocks().block_height_px, tiff_.blocks().height_px));
  }

  std::string warning() const override {
    DecodedImage none{Image()};
    tiff_.note(none);
    return none.warning;
  }

 private:
  std::optional<DecodeError> read_band(std::uint32_t begin) {
    band_begin_ = begin;
    band_end_ = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(begin + tiff_.band_rows(), tiff_.blocks().height_px));
    return tiff_.read(*band_, band_begin_, band_end_, stop_);
  }

  OpenTiff tiff_;
  const Header header_;
  StopRequested stop_;
  std::optional<Picture> band_;
  std::uint32_t band_begin_ = 0;
  std::uint32_t band_end_ = 0;
  std::uint32_t next_ = 0;
};

}  // namespace

Expected<DecodedImage, DecodeError> decode_tiff(BytesView encoded, const Header& header,
                                                const std::optional<Matte>& matte,
                                                const DecodeHooks& hooks) {
  OpenTiff tiff{EncodedBytes(encoded)};
  if (auto error = tiff.open(header)) return *std::move(error);
  const auto rows = static_cast<std::uint32_t>(tiff.blocks().height_px);
  Picture picture = tiff.picture(header, matte, hooks, rows);
  if (auto error = tiff.read(picture, 0, rows, hooks.stop)) return *std::move(error);
  DecodedImage out = turned(picture, header);
  tiff.note(out);
  return out;
}

Expected<std::unique_ptr<PictureRows>, DecodeError> open_tiff_rows(
    const EncodedBytes& encoded, const Header& header, const std::optional<Matte>& matte,
    const RowLimits& limits) {
  auto rows = std::make_unique<TiffRows>(encoded, header, limits);
  if (auto error = rows->open(matte, limits)) return *std::move(error);
  return std::unique_ptr<PictureRows>(std::move(rows));
}

}  // namespace winnow::pipeline
