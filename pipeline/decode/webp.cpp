#include <webp/decode.h>

#include <algorithm>
#include <memory>
#include <new>

#include "pipeline/decode/errors_internal.h"
#include "pipeline/decode/webp_internal.h"

namespace winnow::pipeline {
namespace {

struct DeleteDecoder {
  void operator()(WebPIDecoder* decoder) const noexcept { WebPIDelete(decoder); }
};
using DecoderPtr = std::unique_ptr<WebPIDecoder, DeleteDecoder>;

DecoderPtr make_decoder(const WebpTarget& to) {
  const bool with_alpha = to.order == WebpOrder::kBgra;
  const int step = to.width_px * (with_alpha ? 4 : 3);
  const std::size_t size = static_cast<std::size_t>(to.height_px) * static_cast<std::size_t>(step);
  DecoderPtr decoder(WebPINewRGB(with_alpha ? MODE_BGRA : MODE_RGB, to.samples, size, step));
  if (!decoder) throw std::bad_alloc();
  return decoder;
}

int rows_of(const WebPIDecoder& decoder) {
  int rows = 0;
  WebPIDecGetRGB(&decoder, &rows, nullptr, nullptr, nullptr);
  return rows;
}

DecodeError error_of(VP8StatusCode status) {
  if (status == VP8_STATUS_OUT_OF_MEMORY) throw std::bad_alloc();
  const bool ended = status == VP8_STATUS_SUSPENDED || status == VP8_STATUS_NOT_ENOUGH_DATA;
  return corrupt(ended ? "the WebP's data ends within its pixels" : "libwebp cannot decode it");
}

}  // namespace

std::optional<DecodeError> read_webp(BytesView encoded, const WebpTarget& to,
                                     const StopRequested& stop) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(encoded.data());
  WebPBitstreamFeatures features;
  const VP8StatusCode known = WebPGetFeatures(data, encoded.size(), &features);
  if (known != VP8_STATUS_OK) return error_of(known);
  if (features.width != to.width_px || features.height != to.height_px) {
    return corrupt("its size is not what its header says");
  }
  // libwebp decodes what it has received so far.
  constexpr std::size_t kPixels = 1u << 21;
  const std::size_t pixels =
      static_cast<std::size_t>(to.height_px) * static_cast<std::size_t>(to.width_px);
  const std::size_t piece = encoded.size() / (1 + pixels / kPixels) + 1;
  const DecoderPtr decoder = make_decoder(to);
  VP8StatusCode status = VP8_STATUS_SUSPENDED;
  for (std::size_t given = 0; status == VP8_STATUS_SUSPENDED && given < encoded.size();) {
    end_if_stopped(stop);
    // It decodes everything before the rows again each time.
    given += std::max(piece, rows_of(*decoder) == 0 ? given / 8 : 0);
    status = WebPIUpdate(decoder.get(), data, std::min(given, encoded.size()));
  }
  if (status != VP8_STATUS_OK) return error_of(status);
  return std::nullopt;
}

}  // namespace winnow::pipeline
