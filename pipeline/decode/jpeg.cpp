#include "pipeline/decode/jpeg.h"

// jpeglib.h needs FILE, and jerror.h needs jpeglib.h.
// clang-format off
#include <cstdio>
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

#include <algorithm>
#include <csetjmp>
#include <cstddef>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/error.h"
#include "pipeline/decode/errors_internal.h"
#include "pipeline/decode/fields_internal.h"
#include "pipeline/decode/warnings_internal.h"

namespace winnow::pipeline {
namespace {

// One decompression. libjpeg's callbacks find it through client_data. All calls into libjpeg that
// may fail are inside the functions below that call setjmp; they, and what they call, hold nothing
// with a destructor.
struct Job {
  jpeg_decompress_struct codec;
  jpeg_error_mgr errors;
  jpeg_progress_mgr progress;
  std::jmp_buf stop;
  int max_scans;
  const StopRequested* stop_requested;
  int code;  // libjpeg's number of the fatal message
  bool too_many_scans;
  bool stopped;
  char message[JMSG_LENGTH_MAX];  // the fatal message, or the first warning
};

struct DestroyJob {
  void operator()(Job* job) const noexcept {
    jpeg_destroy_decompress(&job->codec);
    delete job;
  }
};
using JobPtr = std::unique_ptr<Job, DestroyJob>;

Job& job_of(j_common_ptr codec) { return *static_cast<Job*>(codec->client_data); }

[[noreturn]] void stop(j_common_ptr codec) {
  Job& job = job_of(codec);
  job.code = codec->err->msg_code;
  codec->err->format_message(codec, job.message);
  std::longjmp(job.stop, 1);
}

// Negative levels are warnings, after which libjpeg continues. Warnings about missing data, which
// it would fill with gray, become errors.
void on_message(j_common_ptr codec, int level) {
  if (level >= 0) return;
  jpeg_error_mgr& errors = *codec->err;
  if (errors.msg_code == JWRN_JPEG_EOF || errors.msg_code == JWRN_HIT_MARKER) stop(codec);
  if (errors.num_warnings++ == 0) errors.format_message(codec, job_of(codec).message);
}

void on_progress(j_common_ptr codec) {
  Job& job = job_of(codec);
  job.too_many_scans = job.codec.input_scan_number > job.max_scans;
  job.stopped = *job.stop_requested && (*job.stop_requested)();
  if (job.too_many_scans || job.stopped) std::longjmp(job.stop, 1);
}

void no_output(j_common_ptr) {}

JobPtr make_job(int max_scans, const StopRequested& stop_requested) {
  JobPtr job(new Job{});
  job->max_scans = max_scans;
  job->stop_requested = &stop_requested;
  job->codec.err = jpeg_std_error(&job->errors);
  job->codec.client_data = job.get();
  job->errors.error_exit = stop;
  job->errors.emit_message = on_message;
  job->errors.output_message = no_output;
  job->progress.progress_monitor = on_progress;
  return job;
}

// Supplies the encoded bytes to libjpeg on request. After the last one it supplies an end marker
// with a warning, as jpeg_mem_src() does.
struct Feed {
  jpeg_source_mgr manager;
  const EncodedBytes* encoded;
  std::uint64_t at;
  std::vector<std::byte> some;
  std::exception_ptr failure;  // exception while reading
};

Feed& feed_of(j_decompress_ptr codec) { return *reinterpret_cast<Feed*>(codec->src); }

// False on read errors. No exception may pass through libjpeg.
bool read_more(Feed& feed) noexcept {
  try {
    const std::uint64_t left = feed.encoded->size() - feed.at;
    const std::size_t size = static_cast<std::size_t>(std::min<std::uint64_t>(left, 1u << 18));
    feed.some.resize(std::max<std::size_t>(size, 2));
    feed.encoded->read_at(feed.at, std::span(feed.some).first(size));
    feed.at += size;
    feed.manager.next_input_byte = reinterpret_cast<const JOCTET*>(feed.some.data());
    feed.manager.bytes_in_buffer = size;
    return true;
  } catch (...) {
    feed.failure = std::current_exception();
    return false;
  }
}

void no_work(j_decompress_ptr) {}

boolean fill_input(j_decompress_ptr codec) {
  Feed& feed = feed_of(codec);
  if (!read_more(feed)) std::longjmp(job_of(reinterpret_cast<j_common_ptr>(codec)).stop, 1);
  if (feed.manager.bytes_in_buffer > 0) return TRUE;
  WARNMS(codec, JWRN_JPEG_EOF);
  feed.some[0] = std::byte{0xFF};
  feed.some[1] = std::byte{JPEG_EOI};
  feed.manager.bytes_in_buffer = 2;
  return TRUE;
}

void skip_input(j_decompress_ptr codec, long count) {
  Feed& feed = feed_of(codec);
  for (auto left = static_cast<std::size_t>(std::max(0L, count)); left > 0;) {
    if (feed.manager.bytes_in_buffer == 0) fill_input(codec);
    const std::size_t some = std::min(left, feed.manager.bytes_in_buffer);
    feed.manager.next_input_byte += some;
    feed.manager.bytes_in_buffer -= some;
    left -= some;
  }
}

bool read_header(Job& job, Feed& feed) {
  if (setjmp(job.stop) != 0) return false;
  jpeg_create_decompress(&job.codec);
  job.codec.progress = &job.progress;
  feed.manager = {nullptr, 0, no_work, fill_input, skip_input, jpeg_resync_to_restart, no_work};
  job.codec.src = &feed.manager;
  jpeg_read_header(&job.codec, TRUE);
  return true;
}

bool read_header(Job& job, const unsigned char* data, std::size_t size) {
  if (setjmp(job.stop) != 0) return false;
  jpeg_create_decompress(&job.codec);
  job.codec.progress = &job.progress;
  jpeg_mem_src(&job.codec, data, static_cast<unsigned long>(size));
  jpeg_read_header(&job.codec, TRUE);
  return true;
}

inline unsigned char times_255th(int a, int b) {
  const int product = a * b + 128;
  return static_cast<unsigned char>((product + (product >> 8)) >> 8);
}

// Converts inverted CMYK, as Adobe stores it, to R, G, B, as Pillow does.
void inks_to_rgb(const unsigned char* inks, int count, unsigned char* rgb) {
  for (int x = 0; x < count; ++x, inks += 4, rgb += 3) {
    const int light = inks[3];
    for (int c = 0; c < 3; ++c) {
      rgb[c] = static_cast<unsigned char>(light - times_255th(255 - inks[c], light));
    }
  }
}

// `part` lies in the decoded picture. `line` is a buffer for one of its rows, used for CMYK and for
// parts.
void read_part(jpeg_decompress_struct& codec, const Box& part, unsigned char* pixels,
               unsigned char* line) {
  jpeg_start_decompress(&codec);
  const auto left = static_cast<JDIMENSION>(part.left);
  const auto width = static_cast<JDIMENSION>(part.width_px);
  JDIMENSION first = 0;  // first decoded column
  if (width < codec.output_width) {
    // Interpolation of colours invents values beyond a border, so a few more columns are decoded
    // than needed.
    constexpr JDIMENSION kMore = 2;
    first = left < kMore ? 0 : left - kMore;
    const JDIMENSION end = left + width + kMore;
    JDIMENSION count = (end < codec.output_width ? end : codec.output_width) - first;
    jpeg_crop_scanline(&codec, &first, &count);  // may move `first` to the left
  }
  if (part.top > 0) jpeg_skip_scanlines(&codec, static_cast<JDIMENSION>(part.top));
  const std::size_t depth = codec.output_components == 1 ? 1 : 3;
  const std::size_t step = width * depth;
  const std::size_t before = depth * (left - first);  // bytes of a decoded row before the part
  const std::size_t comes = depth * codec.output_width;
  const std::size_t size = step * static_cast<std::size_t>(part.height_px);
  for (std::size_t at = 0; at < size; at += step) {
    if (codec.output_components == 4) {
      jpeg_read_scanlines(&codec, &line, 1);
      inks_to_rgb(line + 4 * (left - first), part.width_px, pixels + at);
    } else if (at >= before && at - before + comes <= size) {
      // Decode directly into place. The excess on the left overwrites the end of the row above,
      // which is restored; the excess on the right lies in the place of the row below.
      unsigned char* row = pixels + (at - before);
      std::copy_n(row, before, line);
      jpeg_read_scanlines(&codec, &row, 1);
      std::copy_n(line, before, row);
    } else {
      jpeg_read_scanlines(&codec, &line, 1);
      std::copy_n(line + before, step, pixels + at);
    }
  }
  if (codec.output_scanline == codec.output_height) jpeg_finish_decompress(&codec);
}

bool read_pixels(Job& job, const Box& part, unsigned char* pixels, unsigned char* line) {
  if (setjmp(job.stop) != 0) return false;
  read_part(job.codec, part, pixels, line);
  return true;
}

DecodeError too_many_scans(int limit) {
  return too_large("has more than " + std::to_string(limit) + " scans");
}

DecodeError error_of(const Job& job) {
  using Kind = DecodeError::Kind;
  if (job.stopped) throw StoppedError("stopped within an image");
  if (job.too_many_scans) return too_many_scans(job.max_scans);
  switch (job.code) {
    case JERR_OUT_OF_MEMORY:
      throw std::bad_alloc();
    case JWRN_JPEG_EOF:
    case JERR_INPUT_EOF:
    case JERR_INPUT_EMPTY:
      return {Kind::kTruncated, job.message};
    case JWRN_HIT_MARKER:  // the file continues, so something before is missing or wrong
      return {Kind::kCorrupt, std::string(job.message) + ": the file is damaged within its pixels"};
    case JERR_ARITH_NOTIMPL:
    case JERR_BAD_PRECISION:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_SOF_UNSUPPORTED:
      return {Kind::kUnsupported, job.message};
    default:
      return {Kind::kCorrupt, job.message};
  }
}

// Whether a scaled DCT is used. libjpeg-turbo 2.1.5 decodes parts of scaled pictures wrongly for
// subsampling such as 4:1:0 and 4x2. Whole pictures of these, and arithmetic coding, are too rare
// to be tested.
bool has_usual_sampling(const jpeg_decompress_struct& codec) {
  if (codec.arith_code) return false;
  for (int i = 0; i < codec.num_components; ++i) {
    const jpeg_component_info& component = codec.comp_info[i];
    const int most = i == 0 && codec.num_components == 3 ? 2 : 1;
    const bool gray = codec.num_components == 1;  // sampling factors of gray images have no effect
    if (!gray && (component.h_samp_factor > most || component.v_samp_factor > most)) return false;
  }
  return true;
}

// The reason to refuse a file whose header was read, if any.
std::optional<DecodeError> refusal(jpeg_decompress_struct& codec, BytesView encoded,
                                   const DecodeSettings& settings) {
  const std::uint64_t pixels = std::uint64_t{codec.image_width} * codec.image_height;
  if (pixels > settings.max_pixels) {
    return too_large("has " + std::to_string(codec.image_width) + " x " +
                     std::to_string(codec.image_height) + " pixels");
  }
  if (codec.num_components != 1 && codec.num_components != 3 && codec.num_components != 4) {
    return unsupported("has " + std::to_string(codec.num_components) + " colour components");
  }
  if (jpeg_has_multiple_scans(&codec) &&
      count_scans(encoded, settings.max_scans + 1) > settings.max_scans) {
    return too_many_scans(settings.max_scans);
  }
  return std::nullopt;
}

void set_up(jpeg_decompress_struct& codec) {
  codec.out_color_space = codec.num_components == 1   ? JCS_GRAYSCALE
                          : codec.num_components == 3 ? JCS_RGB
                                                      : JCS_CMYK;
  codec.dct_method = JDCT_ISLOW;
  codec.do_fancy_upsampling = TRUE;
  // Coefficients of a progressive file take two bytes each, for up to four components.
  const std::uint64_t pixels = std::uint64_t{codec.image_width} * codec.image_height;
  codec.mem->max_memory_to_use = static_cast<long>((std::uint64_t{64} << 20) + 16 * pixels);
}

// Memory that libjpeg needs besides the pixels: all coefficients if there are several scans, and
// some rows.
std::uint64_t work_bytes(jpeg_decompress_struct& codec) {
  const auto rounded_up = [](std::uint64_t n, int to) {
    const auto step = static_cast<std::uint64_t>(to);
    return (n + step - 1) / step * step;
  };
  const bool keeps_all = jpeg_has_multiple_scans(&codec) != 0;
  std::uint64_t bytes = 0;
  for (int i = 0; i < codec.num_components; ++i) {
    const jpeg_component_info& component = codec.comp_info[i];
    const std::uint64_t across = rounded_up(component.width_in_blocks, component.h_samp_factor);
    const std::uint64_t down = rounded_up(component.height_in_blocks, component.v_samp_factor);
    if (keeps_all) bytes += across * down * sizeof(JBLOCK);
    // A row of blocks with its surroundings, and the component at full size.
    bytes += across * DCTSIZE * static_cast<std::uint64_t>(component.v_samp_factor) * 10 +
             std::uint64_t{codec.image_width} * static_cast<std::uint64_t>(codec.max_v_samp_factor);
  }
  return bytes;
}

std::uint64_t bytes_of(const Box& box, int channels) {
  return static_cast<std::uint64_t>(box.height_px) * static_cast<std::uint64_t>(box.width_px) *
         static_cast<std::uint64_t>(channels);
}

bool begin_rows(Job& job) {
  if (setjmp(job.stop) != 0) return false;
  jpeg_start_decompress(&job.codec);
  return true;
}

// Reads the next rows to `to`; `line` is a buffer for a CMYK row.
bool read_rows(Job& job, int rows, unsigned char* to, unsigned char* line) {
  if (setjmp(job.stop) != 0) return false;
  jpeg_decompress_struct& codec = job.codec;
  const std::size_t step = codec.output_width * (codec.output_components == 1 ? 1U : 3U);
  for (int row = 0; row < rows; ++row, to += step) {
    if (codec.output_components == 4) {
      jpeg_read_scanlines(&codec, &line, 1);
      inks_to_rgb(line, static_cast<int>(codec.output_width), to);
    } else {
      jpeg_read_scanlines(&codec, &to, 1);
    }
  }
  if (codec.output_scanline == codec.output_height) jpeg_finish_decompress(&codec);
  return true;
}

class JpegRows final : public PictureRows {
 public:
  JpegRows(const EncodedBytes& encoded, const DecodeSettings& settings, int orientation,
           const RowLimits& limits)
      : encoded_(encoded),
        stop_(limits.stop),
        orientation_(orientation),
        job_(make_job(settings.max_scans, stop_)) {
    feed_.encoded = &encoded_;
    feed_.at = 0;
  }

  // Returns whether it can be read by rows.
  Expected<bool, DecodeError> open(const DecodeSettings& settings) {
    if (!read_header(*job_, feed_)) return error();
    jpeg_decompress_struct& codec = job_->codec;
    if (jpeg_has_multiple_scans(&codec)) return false;
    if (auto refused = refusal(codec, {}, settings)) return *std::move(refused);
    set_up(codec);
    if (!begin_rows(*job_)) return error();
    line_.resize(std::size_t{4} * codec.output_width);
    return true;
  }

  Size size() const noexcept override {
    return {static_cast<int>(job_->codec.image_height), static_cast<int>(job_->codec.image_width)};
  }
  int channels() const noexcept override { return job_->codec.num_components == 1 ? 1 : 3; }
  int orientation() const noexcept override { return orientation_; }

  std::optional<DecodeError> read(int rows, std::uint8_t* to) override {
    if (read_rows(*job_, rows, to, line_.data())) return std::nullopt;
    return error();
  }

  // A row's pixels depend on those above it: all are decoded.
  std::optional<DecodeError> skip(int rows) override {
    std::vector<std::uint8_t> row(static_cast<std::size_t>(size().width_px) *
                                  static_cast<std::size_t>(channels()));
    for (; rows > 0; --rows) {
      if (auto error = read(1, row.data())) return error;
    }
    return std::nullopt;
  }

  int rows_to_reach() const noexcept override { return size().height_px; }

  std::string warning() const override {
    DecodedImage none{Image()};
    note_warnings(none, job_->message, static_cast<int>(job_->errors.num_warnings));
    return none.warning;
  }

 private:
  DecodeError error() const {
    if (feed_.failure) std::rethrow_exception(feed_.failure);
    return error_of(*job_);
  }

  EncodedBytes encoded_;
  StopRequested stop_;
  int orientation_;
  Feed feed_{};
  JobPtr job_;  // must be destroyed before the feed
  std::vector<unsigned char> line_;
};

}  // namespace

Expected<std::unique_ptr<PictureRows>, DecodeError> open_jpeg_rows(const EncodedBytes& encoded,
                                                                   const DecodeSettings& settings,
                                                                   int orientation,
                                                                   const RowLimits& limits) {
  auto rows = std::make_unique<JpegRows>(encoded, settings, orientation, limits);
  const auto can = rows->open(settings);
  if (!can) return can.error();
  if (!*can) rows = nullptr;
  return std::unique_ptr<PictureRows>(std::move(rows));
}

int count_scans(BytesView encoded, int most) {
  const Fields f(encoded, true);
  int scans = 0;
  for (std::uint64_t at = 2; scans < most && f.has(at, 4);) {
    const void* next = std::memchr(encoded.data() + at, 0xFF, encoded.size() - at);
    if (next == nullptr) break;
    at = static_cast<std::uint64_t>(static_cast<const std::byte*>(next) - encoded.data());
    const std::uint32_t marker = f.u8(at + 1);
    if (marker == 0xFF) {  // fill byte
      ++at;
      continue;
    }
    at += 2;
    if (marker == 0xD9) break;
    const bool alone = marker <= 1 || (marker >= 0xD0 && marker <= 0xD8);
    if (alone) continue;
    if (marker == 0xDA) ++scans;
    at += f.u16(at);
  }
  return scans;
}

Expected<DecodedImage, DecodeError> decode_jpeg(BytesView encoded, const DecodeSettings& settings,
                                                const DecodeHooks& hooks, Image image,
                                                const ChoosePart& choose) {
  const JobPtr job = make_job(settings.max_scans, hooks.stop);
  const auto* data = reinterpret_cast<const unsigned char*>(encoded.data());
  if (!read_header(*job, data, encoded.size())) return error_of(*job);
  jpeg_decompress_struct& codec = job->codec;
  if (auto refused = refusal(codec, encoded, settings)) return *std::move(refused);
  set_up(codec);
  const int channels = codec.num_components == 1 ? 1 : 3;
  const Size stored{static_cast<int>(codec.image_height), static_cast<int>(codec.image_width)};
  StoredPart part = choose(stored);
  // Size of a copy of the decoded pixels; 0 if they are used directly.
  std::uint64_t copied_bytes = part.is_turned ? bytes_of(part.box, channels) : 0;
  if (part.scale > 1 && !has_usual_sampling(codec)) {
    copied_bytes = bytes_of(part.box, channels);
    part = {1, {0, 0, stored.height_px, stored.width_px}};
  }
  codec.scale_num = 1;
  codec.scale_denom = static_cast<unsigned>(part.scale);
  const Size size = scaled_size(stored, part.scale);
  const Box whole{0, 0, size.height_px, size.width_px};
  // With several scans all coefficients are decoded anyway.
  const bool in_parts = has_usual_sampling(codec) && !jpeg_has_multiple_scans(&codec);
  const Box& read = in_parts ? part.box : whole;
  if (read != part.box) copied_bytes = bytes_of(part.box, channels);
  if (hooks.before_allocation) {
    hooks.before_allocation(bytes_of(read, channels) + std::max(work_bytes(codec), copied_bytes));
  }
  image.reshape(read.height_px, read.width_px, channels);
  std::vector<unsigned char> line;
  if (codec.num_components == 4 || read.width_px < size.width_px) {
    line.resize(static_cast<std::size_t>(size.width_px) *
                static_cast<std::size_t>(codec.num_components));
  }
  if (!read_pixels(*job, read, image.pixels.data(), line.data())) return error_of(*job);
  if (read != part.box) image = cut(image.view(), part.box);
  DecodedImage out = std::move(image);
  note_warnings(out, job->message, static_cast<int>(job->errors.num_warnings));
  out.whole_height_px = stored.height_px;
  out.whole_width_px = stored.width_px;
  return out;
}

}  // namespace winnow::pipeline
