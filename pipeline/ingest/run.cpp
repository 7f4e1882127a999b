#include "pipeline/ingest/run.h"

#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "pipeline/parallel/worker_limit.h"
#include "pipeline/store/pack_cutter.h"

namespace winnow::pipeline {
namespace {

// The serial part: takes chunks in order and writes their content to shards and parts.
class Collector {
 public:
  Collector(const RunPlan& plan, const ChunkMaker& maker, ShardSink& sink, Progress progress,
            const ProgressSink& report)
      : plan_(plan), maker_(maker), sink_(sink), progress_(std::move(progress)), report_(report) {}

  void add(Chunk chunk) {
    if (chunk.error) std::rethrow_exception(chunk.error);
    const PlacedSource& source = plan_.sources[chunk.plan.source];
    const std::string shard = shard_name(source, plan_.shards[chunk.plan.shard]);
    part_.info.first_id = source.id_of(plan_.shards[chunk.plan.shard].begin);
    part_.info.last_id = source.id_of(chunk.plan.end - 1);
    if (plan_.store != Store::kNone) store_packs(source, shard, chunk);
    sink_.add(shard, chunk.ledger, chunk.fingerprints);
    part_.size += dedup::FingerprintWriter::size_of(chunk.fingerprints);
    part_.tally.add(chunk.tally);
    for (const LedgerRow& row : chunk.ledger) {
      ++part_.fates[static_cast<std::size_t>(row.fate)];
      part_.remarks.add(row);
    }
    part_.remarks.oriented += chunk.oriented;
    part_.remarks.transparent += chunk.transparent;
    if (chunk.plan.ends_shard) sink_.end_shard(shard, std::exchange(part_, {}));
    for (std::size_t stage = 0; stage < kStageCount; ++stage) {
      times_.stages[stage].busy_seconds += chunk.times.stages[stage].busy_seconds;
    }
    progress_.done += chunk.plan.end - chunk.plan.begin;
    if (report_) report_(progress_);
  }
  const StageTimes& times() const noexcept { return times_; }

 private:
  void store_packs(const PlacedSource& source, const std::string& shard, Chunk& chunk) {
    // A transaction ends with its chunk, or before the pack that would make it too large: rules
    // that only depend on content. Its packs stay in memory until then, as do LMDB's copies.
    std::vector<lmdb::Writer::Entry> transaction;
    std::vector<ByteGate::Credit> credits;
    std::uint64_t held = 0;
    const auto commit = [&] {
      sink_.put(shard, transaction);
      transaction.clear();
      credits.clear();
      held = 0;
    };
    for (Pack& pack : chunk.packs) {
      if (pack.pack.empty()) maker_.make_again(chunk, pack);
      if (held > 0 && held + pack.pack.size() > kTransactionBytes) commit();
      held += pack.pack.size();
      transaction.emplace_back(source.id_of(pack.items.front().position), std::move(pack.pack));
      credits.push_back(std::move(pack.credit));
      part_.info.records += pack.items.size();
    }
    commit();
  }

  const RunPlan& plan_;
  const ChunkMaker& maker_;
  ShardSink& sink_;
  Progress progress_;
  const ProgressSink& report_;
  Part part_;  // for the current shard
  StageTimes times_;
};

// A thread that passes chunks to a collector in order, in whatever order they arrive.
class WriterThread {
 public:
  // At most `room` chunks are between wait_for_room() and the collector. `check` is called before
  // each; its exception counts as a failure.
  WriterThread(Collector& collector, std::size_t chunks, std::size_t room,
               const std::function<void()>& check)
      : collector_(collector), chunks_(chunks), room_(room), check_(check), thread_([this] {
          run();
        }) {}
  ~WriterThread() {
    fail(nullptr);
    if (thread_.joinable()) thread_.join();
  }
  WriterThread(const WriterThread&) = delete;
  WriterThread& operator=(const WriterThread&) = delete;

  // False after an error: nothing more is needed.
  bool wait_for_room(std::size_t number) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_ || number < written_ + room_; });
    return !ended_;
  }
  bool failed() const noexcept { return ended_; }
  void put(std::size_t number, Chunk chunk) {
    {
      const std::lock_guard lock(mutex_);
      ready_.emplace(number, std::move(chunk));
    }
    changed_.notify_all();
  }
  // Call it after the last chunk or the first failure. Waits, and rethrows the error.
  double finish() {
    thread_.join();
    if (error_) std::rethrow_exception(error_);
    return busy_seconds_;
  }

 private:
  void run() {
    try {
      for (std::size_t number = 0; number < chunks_; ++number) {
        std::optional<Chunk> chunk = take(number);
        if (!chunk) return;
        if (check_) check_();
        Stopwatch watch;
        collector_.add(*std::move(chunk));
        busy_seconds_ += watch.lap();
        {
          const std::lock_guard lock(mutex_);
          written_ = number + 1;
        }
        changed_.notify_all();
      }
    } catch (...) {
      fail(std::current_exception());
    }
  }
  std::optional<Chunk> take(std::size_t number) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_ || ready_.contains(number); });
    if (ended_) return std::nullopt;
    return std::move(ready_.extract(number).mapped());
  }
  void fail(std::exception_ptr error) {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
      error_ = std::move(error);
      ready_.clear();  // with their credits, for which a thread may be waiting
    }
    changed_.notify_all();
  }

  Collector& collector_;
  const std::size_t chunks_;
  const std::size_t room_;
  const std::function<void()>& check_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::size_t, Chunk> ready_;
  std::size_t written_ = 0;  // all before it
  std::atomic<bool> ended_{false};
  std::exception_ptr error_;
  double busy_seconds_ = 0;
  std::thread thread_;
};

// Filters never throw and tokens are plain numbers, because a cancelled pipeline does not release
// the tokens it holds.
void run_pipeline(std::span<const ChunkPlan> chunks, const ChunkMaker& maker, ChunkReaders& readers,
                  WriterThread& writer, std::size_t tokens, const std::function<void()>& check) {
  struct Token {
    std::size_t number = 0;
    ReadChunk* read = nullptr;
  };
  std::size_t next = 0;
  const auto source = [&](tbb::flow_control& flow) -> Token {
    if (next == chunks.size() || !writer.wait_for_room(next)) {
      flow.stop();
      return {};
    }
    // As a raw pointer, because tokens are copied; make() below always takes ownership.
    auto read = std::make_unique<ReadChunk>(readers.take(next));
    return {next++, read.release()};
  };
  const auto make = [&](const Token& token) {
    const std::unique_ptr<ReadChunk> read(token.read);
    if (writer.failed()) return;
    Chunk chunk;
    try {
      chunk = maker.make(chunks[token.number], std::move(*read), check);
    } catch (...) {
      chunk.error = std::current_exception();
    }
    writer.put(token.number, std::move(chunk));
  };
  using Mode = tbb::filter_mode;
  tbb::task_group_context context(tbb::task_group_context::isolated);
  tbb::parallel_pipeline(tokens,
                         tbb::make_filter<void, Token>(Mode::serial_in_order, source) &
                             tbb::make_filter<Token, void>(Mode::parallel, make),
                         context);
}

void run_on_threads(int threads, const auto& work) {
  const WorkerLimit limit(threads);
  tbb::task_arena arena(threads > 0 ? threads : tbb::task_arena::automatic);
  arena.execute([&] { work(arena.max_concurrency()); });
}

}  // namespace

StageTimes run_chunks(const RunPlan& plan, const ChunkMaker& maker, Gates& gates, ShardSink& sink,
                      const ProgressFrom& progress, const std::function<void()>& check) {
  StageTimes times;
  Stopwatch wall;
  Collector collector(plan, maker, sink, progress.so_far, progress.sink);
  run_on_threads(plan.threads, [&](int threads) {
    // Finished chunks wait for earlier ones: more chunks than threads keep all threads busy.
    const auto tokens = static_cast<std::size_t>(3 * threads);
    ChunkReaders readers(plan.chunks, plan.sources, gates.encoded, plan.readers);
    WriterThread writer(collector, plan.chunks.size(), tokens, check);
    run_pipeline(plan.chunks, maker, readers, writer, tokens, check);
    times[Stage::kWrite] = {writer.finish(), 1};
    times[Stage::kRead] = {readers.busy_seconds(), readers.threads()};
    for (const Stage stage : {Stage::kDecode, Stage::kFingerprint, Stage::kPack}) {
      times[stage] = {collector.times()[stage].busy_seconds, threads};
    }
  });
  sink.finish();
  times.wall_seconds = wall.lap();
  return times;
}

}  // namespace winnow::pipeline
