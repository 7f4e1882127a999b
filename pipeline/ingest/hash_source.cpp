#include "pipeline/ingest/hash_source.h"

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "common/error.h"
#include "common/image.h"
#include "pipeline/decode/decode.h"
#include "pipeline/decode/shrink.h"
#include "pipeline/ingest/reader.h"
#include "pipeline/parallel/worker_limit.h"

namespace winnow::pipeline {
namespace {

constexpr std::uint64_t kAtOnce = 512;

HashedInput hashed(const datasets::Source& source, std::uint64_t position,
                   std::span<const dedup::HashKind> hashes, const HashSourceOptions& options,
                   dedup::HashMemory& memory) {
  HashedInput input;
  input.position = position;
  ReadResult read = read_patiently(source, position);
  if (!read) {
    input.problem = read.error().detail;
    return input;
  }
  Image image;
  if (auto* pixels = std::get_if<Image>(&*read)) {
    image = std::move(*pixels);
    input.height_px = image.height_px;
    input.width_px = image.width_px;
    if (options.scale > 1) image = box_average(image.view(), options.scale);
  } else {
    auto decoded = decode(std::get<Bytes>(*read), options.decode, {}, {}, options.scale);
    if (!decoded) {
      input.problem = decoded.error().detail;
      return input;
    }
    input.height_px = decoded->whole_height_px;
    input.width_px = decoded->whole_width_px;
    image = *std::move(decoded);
  }
  input.codes = dedup::compute_hashes(image.view(), hashes, memory);
  return input;
}

}  // namespace

void hash_source(const datasets::Source& source, std::span<const dedup::HashKind> hashes,
                 const HashSourceOptions& options,
                 const std::function<void(const HashedInput&)>& take) {
  const WorkerLimit limit(options.threads);
  tbb::enumerable_thread_specific<dedup::HashMemory> memories;
  const std::uint64_t count = source.entries().size();
  for (std::uint64_t begin = 0; begin < count; begin += kAtOnce) {
    std::vector<HashedInput> block(std::min(kAtOnce, count - begin));
    tbb::parallel_for(std::size_t{0}, block.size(), [&](std::size_t i) {
      if (options.stop && options.stop()) throw StoppedError("stopped before the end");
      block[i] = hashed(source, begin + i, hashes, options, memories.local());
    });
    for (const HashedInput& input : block) take(input);
  }
}

}  // namespace winnow::pipeline
