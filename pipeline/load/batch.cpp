#include "pipeline/load/batch.h"

#include <span>

#include "common/bytes.h"
#include "common/checksum.h"

namespace winnow::pipeline {

std::uint64_t digest_of(const Batch& batch, std::uint64_t begin) {
  const std::size_t sample_bytes = batch.size() == 0 ? 0 : batch.pixels.size() / batch.size();
  const Box box = batch.mix ? batch.mix->box.value_or(Box{}) : Box{};
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    ByteWriter of_sample;
    of_sample.put<std::uint64_t>(begin + i);
    of_sample.put<std::uint64_t>(batch.ids[i]);
    of_sample.put<std::uint64_t>(batch.partners[i]);
    of_sample.put<double>(batch.weights[i]);
    of_sample.put<double>(batch.mix ? batch.mix->own : 1);
    of_sample.put<std::uint64_t>(batch.groups[i]);
    for (const int side : {box.top, box.left, box.height_px, box.width_px}) {
      of_sample.put<std::int64_t>(side);
    }
    for (std::uint32_t k = batch.label_offsets[i]; k < batch.label_offsets[i + 1]; ++k) {
      of_sample.put<std::int64_t>(batch.labels[k]);
      of_sample.put<double>(batch.label_weights[k]);
    }
    of_sample.put<std::uint64_t>(
        xxh3_64(std::as_bytes(std::span(batch.pixels).subspan(i * sample_bytes, sample_bytes))));
    sum += xxh3_64(of_sample.bytes());
  }
  return sum;
}

}  // namespace winnow::pipeline
