#include "pipeline/ingest/hash_source.h"

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include <atomic>
#include <exception>
#include <utility>
#include <variant>

#include "common/error.h"
#include "common/image.h"
#include "pipeline/decode/decode.h"
#include "pipeline/decode/shrink.h"
#include "pipeline/decode/upon_gray.h"
#include "pipeline/ingest/byte_gate.h"
#include "pipeline/ingest/plan.h"
#include "pipeline/ingest/reader.h"
#include "pipeline/parallel/worker_limit.h"

namespace winnow::pipeline {
namespace {

constexpr std::uint64_t kInputsAPiece = 16;  // so that small sets keep many threads busy, too
constexpr std::uint64_t kBytesAPiece = 1u << 20;
constexpr std::uint64_t kBytesAThread = 32u << 20;

std::vector<ChunkPlan> plan_pieces(const PlacedSource& source) {
  std::vector<ChunkPlan> pieces;
  const std::uint64_t inputs = source.source->entries().size();
  for (std::uint64_t at = 0; at < inputs; ++at) {
    const std::uint64_t bytes = source.input_bytes(at);
    const bool fits = !pieces.empty() && at - pieces.back().begin < kInputsAPiece &&
                      pieces.back().input_bytes + bytes <= kBytesAPiece;
    if (!fits) pieces.push_back({.begin = at, .end = at});
    pieces.back().end = at + 1;
    pieces.back().input_bytes += bytes;
  }
  return pieces;
}

HashedInput hashed(std::uint64_t position, ReadResult read, std::span<const dedup::HashKind> hashes,
                   const HashSourceOptions& options, dedup::HashMemory& memory) {
  HashedInput input;
  input.position = position;
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
    auto decoded =
        decode(std::get<Bytes>(*read), options.decode, {{}, options.stop, true}, {}, options.scale);
    if (!decoded) {
      input.problem = decoded.error().detail;
      return input;
    }
    input.height_px = decoded->whole_height_px;
    input.width_px = decoded->whole_width_px;
    image = as_seen(*std::move(decoded), options.scale);
  }
  input.codes = dedup::compute_hashes(image.view(), hashes, memory);
  return input;
}

// An item between reading and output. No filter may throw, because a cancelled pipeline does not
// finish its tokens. Tokens end in order, so a slot is free when its turn comes again.
struct Slot {
  ReadChunk read;
  std::vector<HashedInput> inputs;
  std::exception_ptr error;
};

void run_pipeline(std::span<const ChunkPlan> chunks, ChunkReaders& readers, std::size_t tokens,
                  const auto& hash, const std::function<void(const HashedInput&)>& take) {
  std::vector<Slot> slots(tokens);
  std::size_t next = 0;
  std::atomic<bool> failed{false};
  std::exception_ptr error;
  const auto read = [&](tbb::flow_control& flow) -> std::size_t {
    if (next == chunks.size() || failed) {
      flow.stop();
      return 0;
    }
    slots[next % tokens].read = readers.take(next);
    return next++;
  };
  const auto work = [&](std::size_t number) {
    Slot& slot = slots[number % tokens];
    try {
      if (!failed) slot.inputs = hash(chunks[number], slot.read);
    } catch (...) {
      slot.error = std::current_exception();
    }
    return number;
  };
  const auto give = [&](std::size_t number) {
    Slot slot = std::exchange(slots[number % tokens], {});
    if (failed) return;
    try {
      if (slot.error) std::rethrow_exception(slot.error);
      for (const HashedInput& input : slot.inputs) take(input);
    } catch (...) {
      error = std::current_exception();
      failed = true;
    }
  };
  using Mode = tbb::filter_mode;
  tbb::parallel_pipeline(tokens,
                         tbb::make_filter<void, std::size_t>(Mode::serial_in_order, read) &
                             tbb::make_filter<std::size_t, std::size_t>(Mode::parallel, work) &
                             tbb::make_filter<std::size_t, void>(Mode::serial_in_order, give));
  if (error) std::rethrow_exception(error);
}

}  // namespace

void hash_source(const datasets::Source& source, std::span<const dedup::HashKind> hashes,
                 const HashSourceOptions& options,
                 const std::function<void(const HashedInput&)>& take) {
  const WorkerLimit limit(options.threads);
  tbb::task_arena arena(options.threads > 0 ? options.threads : tbb::task_arena::automatic);
  const auto threads = static_cast<std::size_t>(arena.max_concurrency());
  const std::vector<PlacedSource> sources{
      {.source = &source, .ordinal = 0, .info = {}, .training_labels = {}}};
  const std::vector<ChunkPlan> chunks = plan_pieces(sources.front());
  ByteMeter meter;
  ByteGate gate((threads + 1) * kBytesAThread, meter);
  ChunkReaders readers(chunks, sources, gate, options.readers);
  tbb::enumerable_thread_specific<dedup::HashMemory> memories;
  const auto hash = [&](const ChunkPlan& chunk, ReadChunk& read) {
    std::vector<HashedInput> inputs;
    if (read.error) std::rethrow_exception(read.error);
    for (std::uint64_t at = chunk.begin; at < chunk.end; ++at) {
      if (options.stop && options.stop()) throw StoppedError("stopped before the end");
      inputs.push_back(
          hashed(at, std::move(read.inputs[at - chunk.begin]), hashes, options, memories.local()));
    }
    return inputs;
  };
  arena.execute([&] { run_pipeline(chunks, readers, 3 * threads, hash, take); });
}

}  // namespace winnow::pipeline
