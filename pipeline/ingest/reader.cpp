#include "pipeline/ingest/reader.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "pipeline/ingest/stages.h"

namespace winnow::pipeline {
namespace {

// Longer than in-memory storage takes for a chunk.
constexpr std::chrono::milliseconds kPatience{5};

std::uint64_t bytes_of(const datasets::Payload& payload) {
  if (const auto* image = std::get_if<Image>(&payload)) return image->pixels.size();
  return std::get<Bytes>(payload).size();
}

}  // namespace

ReadResult read_patiently(const datasets::Source& source, std::uint64_t position) {
  using namespace std::chrono_literals;
  for (const auto pause : {5ms, 40ms}) {
    auto payload = source.read(position);
    if (payload || payload.error().kind != datasets::ReadError::Kind::kIo) return payload;
    std::this_thread::sleep_for(pause);
  }
  return source.read(position);
}

ReadChunk read_chunk(const ChunkPlan& plan, std::span<const PlacedSource> sources,
                     ByteGate::Credit credit) {
  ReadChunk chunk{.inputs = {}, .credit = std::move(credit), .error = {}};
  const PlacedSource& in = sources[plan.source];
  const datasets::Source& source = *in.source;
  std::uint64_t bytes = 0;
  try {
    chunk.inputs.reserve(plan.end - plan.begin);
    for (std::uint64_t position = plan.begin; position < plan.end; ++position) {
      const bool too_large = source.entries().input_bytes(position) > kMaxInputBytes;
      const bool skip = too_large || !in.is_read(position);
      chunk.inputs.push_back(skip ? ReadResult(Bytes()) : read_patiently(source, position));
      if (chunk.inputs.back()) bytes += bytes_of(*chunk.inputs.back());
    }
  } catch (...) {
    chunk.error = std::current_exception();
  }
  chunk.credit.grow_to(bytes);  // the listed size may be wrong
  return chunk;
}

ChunkReaders::ChunkReaders(std::span<const ChunkPlan> chunks, std::span<const PlacedSource> sources,
                           ByteGate& gate, int most)
    : chunks_(chunks),
      sources_(sources),
      gate_(gate),
      most_(static_cast<std::size_t>(std::max(1, most))) {
  const std::lock_guard lock(mutex_);
  start_thread();
}

ChunkReaders::~ChunkReaders() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    ready_.clear();  // with their credits, for which a thread may be waiting
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

ReadChunk ChunkReaders::take(std::size_t number) {
  std::unique_lock lock(mutex_);
  // The consumer has to wait: reading is too slow. Adds half as many threads, repeatedly, while
  // there is more to read.
  while (!changed_.wait_for(lock, kPatience, [&] { return ready_.contains(number); })) {
    const std::size_t want = std::min({most_, threads_.size() + (threads_.size() + 1) / 2,
                                       threads_.size() + chunks_.size() - next_});
    while (threads_.size() < want) start_thread();
    changed_.notify_all();  // more may be read ahead
  }
  ReadChunk chunk = std::move(ready_.extract(number).mapped());
  taken_ = number + 1;
  lock.unlock();
  changed_.notify_all();
  return chunk;
}

int ChunkReaders::threads() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(threads_.size());
}

double ChunkReaders::busy_seconds() const {
  const std::lock_guard lock(mutex_);
  return busy_seconds_;
}

void ChunkReaders::start_thread() {
  threads_.emplace_back([this] { run(); });
}

void ChunkReaders::run() {
  for (;;) {
    std::unique_lock turn(turn_);
    std::size_t number = 0;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(
          lock, [this] { return stopped_ || next_ == chunks_.size() || next_ < taken_ + ahead(); });
      if (stopped_ || next_ == chunks_.size()) return;
      number = next_++;
    }
    ByteGate::Credit credit = gate_.acquire(chunks_[number].input_bytes);
    turn.unlock();
    Stopwatch watch;
    ReadChunk chunk = read_chunk(chunks_[number], sources_, std::move(credit));
    const double seconds = watch.lap();
    {
      const std::lock_guard lock(mutex_);
      busy_seconds_ += seconds;
      if (stopped_) return;
      ready_.emplace(number, std::move(chunk));
    }
    changed_.notify_all();
  }
}

}  // namespace winnow::pipeline
