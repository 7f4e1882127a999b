#include <png.h>
#include <zlib.h>

#include <bit>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "common/error.h"
#include "pipeline/decode/encode.h"
#include "pipeline/decode/errors_internal.h"
#include "pipeline/decode/png_internal.h"

namespace winnow::pipeline {
namespace {

// One decompression. All calls into libpng that may fail are inside the functions below that call
// setjmp, which hold nothing with a destructor.
struct Job {
  png_structp png = nullptr;
  png_infop info = nullptr;
  BytesView rest;  // unread
  const StopRequested* stop_requested = nullptr;
  bool stopped = false;
  int passes = 1;
  int warnings = 0;
  char message[256] = {};  // the error, or the first warning
};

struct DestroyJob {
  void operator()(Job* job) const noexcept {
    png_destroy_read_struct(&job->png, &job->info, nullptr);
    delete job;
  }
};
using JobPtr = std::unique_ptr<Job, DestroyJob>;

void keep(Job& job, const char* message) {
  std::snprintf(job.message, sizeof job.message, "%s", message);
}

[[noreturn]] void stop(png_structp png, png_const_charp message) {
  keep(*static_cast<Job*>(png_get_error_ptr(png)), message);
  png_longjmp(png, 1);
}

void on_warning(png_structp png, png_const_charp message) {
  Job& job = *static_cast<Job*>(png_get_error_ptr(png));
  if (job.warnings++ == 0) keep(job, message);
}

void read_some(png_structp png, png_bytep to, std::size_t count) {
  Job& job = *static_cast<Job*>(png_get_io_ptr(png));
  if (count > job.rest.size()) png_error(png, "the file ends early");
  std::memcpy(to, job.rest.data(), count);
  job.rest = job.rest.subspan(count);
}

JobPtr make_job(BytesView encoded, const StopRequested& stop_requested) {
  JobPtr job(new Job);
  job->rest = encoded;
  job->stop_requested = &stop_requested;
  job->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, job.get(), stop, on_warning);
  if (job->png == nullptr) throw std::bad_alloc();
  job->info = png_create_info_struct(job->png);
  if (job->info == nullptr) throw std::bad_alloc();
  return job;
}

// Number of channels to read.
int channels_of(Job& job) {
  const int colour_type = png_get_color_type(job.png, job.info);
  if (colour_type == PNG_COLOR_TYPE_GRAY) return 1;
  if ((colour_type & PNG_COLOR_MASK_ALPHA) != 0) return 4;
  return png_get_valid(job.png, job.info, PNG_INFO_tRNS) != 0 ? 4 : 3;
}

// Chunk names in libpng's form: four letters and a zero byte each.
constexpr png_byte kTexts[] = "tEXt\0zTXt\0iTXt";

bool read_info(Job& job) {
  if (setjmp(png_jmpbuf(job.png)) != 0) return false;
  png_set_read_fn(job.png, &job, read_some);
  png_set_keep_unknown_chunks(job.png, PNG_HANDLE_CHUNK_NEVER, kTexts, 3);
  png_read_info(job.png, job.info);
  const bool is_gray = (png_get_color_type(job.png, job.info) & PNG_COLOR_MASK_COLOR) == 0;
  const int channels = channels_of(job);
  if (std::endian::native == std::endian::little) png_set_swap(job.png);  // samples of 16 bits
  if (channels == 4) {
    png_set_tRNS_to_alpha(job.png);
  } else {
    png_set_strip_alpha(job.png);
  }
  png_set_palette_to_rgb(job.png);
  if (is_gray) png_set_expand_gray_1_2_4_to_8(job.png);
  if (is_gray && channels > 1) png_set_gray_to_rgb(job.png);
  if (!is_gray) png_set_bgr(job.png);
  job.passes = png_set_interlace_handling(job.png);
  png_read_update_info(job.png, job.info);
  return true;
}

bool is_stopped(Job& job) {
  job.stopped = *job.stop_requested && (*job.stop_requested)();
  return job.stopped;
}

void read_passes(Job& job, Samples& to) {
  for (int pass = 0; pass < job.passes; ++pass) {
    for (int y = 0; y < to.height_px; ++y) {
      if (is_stopped(job)) return;
      png_read_row(job.png, to.row(y), nullptr);
    }
  }
  png_read_end(job.png, nullptr);
}

bool read_rows(Job& job, Samples& to) {
  if (setjmp(png_jmpbuf(job.png)) != 0) return false;
  read_passes(job, to);
  return true;
}

DecodeError error_of(const Job& job) { return corrupt(std::string("libpng: ") + job.message); }

}  // namespace

Expected<PngSamples, DecodeError> read_png(BytesView encoded, const StopRequested& stop) {
  const JobPtr job = make_job(encoded, stop);
  if (!read_info(*job)) return error_of(*job);
  PngSamples out;
  out.samples = Samples(static_cast<int>(png_get_image_height(job->png, job->info)),
                        static_cast<int>(png_get_image_width(job->png, job->info)),
                        png_get_channels(job->png, job->info),
                        png_get_bit_depth(job->png, job->info) == 16 ? 2 : 1);
  if (out.samples.row_bytes() < png_get_rowbytes(job->png, job->info)) return error_of(*job);
  if (!read_rows(*job, out.samples)) return error_of(*job);
  if (job->stopped) throw StoppedError("stopped within an image");
  out.warnings = job->warnings;
  if (job->warnings > 0) out.first_warning = job->message;
  return out;
}

namespace {

// The counterpart of Job for compression.
struct WriteJob {
  png_structp png = nullptr;
  png_infop info = nullptr;
  Bytes out{};
  bool is_full = false;  // out of memory
};

struct DestroyWriteJob {
  void operator()(WriteJob* job) const noexcept {
    png_destroy_write_struct(&job->png, &job->info);
    delete job;
  }
};

[[noreturn]] void stop_writing(png_structp png, png_const_charp) { png_longjmp(png, 1); }
void no_warning(png_structp, png_const_charp) {}
void no_flush(png_structp) {}

// An exception must not pass through libpng.
bool append(Bytes& out, png_const_bytep from, std::size_t count) noexcept try {
  const auto* const bytes = reinterpret_cast<const std::byte*>(from);
  out.insert(out.end(), bytes, bytes + count);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

void write_some(png_structp png, png_bytep from, std::size_t count) {
  WriteJob& job = *static_cast<WriteJob*>(png_get_io_ptr(png));
  job.is_full = !append(job.out, from, count);
  if (job.is_full) png_error(png, "memory is full");
}

bool write(WriteJob& job, const ImageView& image) {
  if (setjmp(png_jmpbuf(job.png)) != 0) return false;
  png_set_write_fn(job.png, &job, write_some, no_flush);
  png_set_user_limits(job.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  // Fast, at the cost of size.
  png_set_filter(job.png, PNG_FILTER_TYPE_BASE, PNG_FILTER_SUB);
  png_set_compression_level(job.png, Z_BEST_SPEED);
  png_set_compression_strategy(job.png, Z_RLE);
  png_set_IHDR(job.png, job.info, static_cast<png_uint_32>(image.width_px),
               static_cast<png_uint_32>(image.height_px), 8,
               image.channels == 1   ? PNG_COLOR_TYPE_GRAY
               : image.channels == 4 ? PNG_COLOR_TYPE_RGB_ALPHA
                                     : PNG_COLOR_TYPE_RGB,
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(job.png, job.info);
  for (int y = 0; y < image.height_px; ++y) png_write_row(job.png, image.row(y));
  png_write_end(job.png, nullptr);
  return true;
}

}  // namespace

Bytes encode_png(const ImageView& image) {
  const std::unique_ptr<WriteJob, DestroyWriteJob> job(new WriteJob);
  job->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, job.get(), stop_writing, no_warning);
  if (job->png == nullptr) throw std::bad_alloc();
  job->info = png_create_info_struct(job->png);
  if (job->info == nullptr) throw std::bad_alloc();
  if (write(*job, image)) return std::move(job->out);
  if (job->is_full) throw std::bad_alloc();
  throw Error("an image of " + std::to_string(image.width_px) + " x " +
              std::to_string(image.height_px) + " px cannot be encoded as PNG");
}

}  // namespace winnow::pipeline
