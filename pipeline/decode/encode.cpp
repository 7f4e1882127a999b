#include "pipeline/decode/encode.h"

// jpeglib.h needs FILE, and jerror.h needs jpeglib.h.
// clang-format off
#include <cstdio>
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

#include <algorithm>
#include <csetjmp>
#include <cstdlib>
#include <memory>
#include <new>

#include "common/error.h"

namespace winnow::pipeline {

namespace {

// One compression. All calls into libjpeg that may fail are inside compress(), which calls setjmp
// and holds nothing with a destructor.
struct Job {
  jpeg_compress_struct codec;
  jpeg_error_mgr errors;
  std::jmp_buf stop;
  unsigned char* out;  // allocated by libjpeg if its buffer was too small
  unsigned long out_bytes;
};

struct DestroyJob {
  void operator()(Job* job) const noexcept {
    jpeg_destroy_compress(&job->codec);
    delete job;
  }
};

[[noreturn]] void stop(j_common_ptr codec) {
  std::longjmp(static_cast<Job*>(codec->client_data)->stop, 1);
}
void no_message(j_common_ptr, int) {}

bool compress(Job& job, const ImageView& image, int quality) {
  if (setjmp(job.stop) != 0) return false;
  jpeg_compress_struct& codec = job.codec;
  jpeg_create_compress(&codec);
  jpeg_mem_dest(&codec, &job.out, &job.out_bytes);
  codec.image_width = static_cast<JDIMENSION>(image.width_px);
  codec.image_height = static_cast<JDIMENSION>(image.height_px);
  codec.input_components = image.channels;
  codec.in_color_space = image.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&codec);
  jpeg_set_quality(&codec, quality, TRUE);
  codec.dct_method = JDCT_ISLOW;
  jpeg_start_compress(&codec, TRUE);
  constexpr int kRows = 16;  // rows of blocks at once
  while (codec.next_scanline < codec.image_height) {
    JSAMPROW rows[kRows];
    const int first = static_cast<int>(codec.next_scanline);
    const int count = std::min(kRows, image.height_px - first);
    // libjpeg only reads them, but its type is not const.
    for (int i = 0; i < count; ++i) rows[i] = const_cast<std::uint8_t*>(image.row(first + i));
    jpeg_write_scanlines(&codec, rows, static_cast<JDIMENSION>(count));
  }
  jpeg_finish_compress(&codec);
  return true;
}

}  // namespace

Bytes encode_jpeg(const ImageView& image, int quality) {
  if (quality < 1 || quality > 100) {
    throw UsageError("the quality of a JPEG is 1 to 100, not " + std::to_string(quality));
  }
  if (std::max(image.height_px, image.width_px) > kMaxJpegSide ||
      std::min(image.height_px, image.width_px) < 1) {
    throw Error("an image of " + std::to_string(image.width_px) + " x " +
                std::to_string(image.height_px) + " px cannot be encoded as JPEG");
  }
  // As TurboJPEG: three bytes a pixel of whole blocks always suffice.
  const auto blocks = [](int side) { return (static_cast<std::size_t>(side) + 15) / 16 * 16; };
  Bytes buffer(blocks(image.height_px) * blocks(image.width_px) * 3 + 2048);
  auto* const begin = reinterpret_cast<unsigned char*>(buffer.data());
  const std::unique_ptr<Job, DestroyJob> job(new Job{});
  job->codec.err = jpeg_std_error(&job->errors);
  job->codec.client_data = job.get();
  job->errors.error_exit = stop;
  job->errors.emit_message = no_message;
  job->out = begin;
  job->out_bytes = buffer.size();
  if (!compress(*job, image, quality)) throw std::bad_alloc();  // nothing else can fail
  if (job->out == begin) {
    buffer.resize(job->out_bytes);
    return {buffer.begin(), buffer.end()};
  }
  const std::unique_ptr<unsigned char, decltype(&std::free)> own(job->out, std::free);
  const auto* bytes = reinterpret_cast<const std::byte*>(job->out);
  return {bytes, bytes + job->out_bytes};
}

}  // namespace winnow::pipeline
