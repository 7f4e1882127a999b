#include "pipeline/load/exchange.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include "common/comm/agreement.h"
#include "common/comm/schedule/all_to_all.h"
#include "common/error.h"
#include "common/thread_name.h"
#include "pipeline/load/exchange_plan.h"
#include "pipeline/load/variant_internal.h"
#include "pipeline/store/cache.h"

namespace winnow::pipeline {

class Spread {
 public:
  const Cache& cache;
  comm::Communicator& comm;
  Holders holders;
  RecordSizes sizes;
  std::size_t segment_bytes;
};

namespace {

RecordSizes gather_sizes(const Cache& cache, comm::Communicator& comm, const Holders& holders) {
  RecordSizes sizes{.ids = cache.open_fingerprints()({}).ids};
  sizes.bytes.resize(sizes.ids.size());
  comm::on_all(comm, [&] {
    for (const std::uint32_t shard : holders.share_of(comm.rank())) {
      cache.for_each_packed_size(shard, [&](SampleId id, std::size_t bytes) {
        const auto at = std::ranges::lower_bound(sizes.ids, id) - sizes.ids.begin();
        if (static_cast<std::size_t>(at) == sizes.ids.size() ||
            sizes.ids[static_cast<std::size_t>(at)] != id) {
          throw FormatError(cache.manifest().shards[shard].file + " of " +
                            cache.paths().root.string() + " has a record " + std::to_string(id) +
                            " that the fingerprints lack: it is damaged; make it again");
        }
        sizes.bytes[static_cast<std::size_t>(at)] = static_cast<std::int32_t>(bytes);
      });
    }
  });
  const std::vector<comm::Transfer> transfers =
      comm::find_schedule("ring").all_reduce(comm.placement(), sizes.bytes.size(), {});
  comm.start_all_reduce(std::span(sizes.bytes), comm::Reduction::kMax, transfers).wait();
  return sizes;
}

// Memory for sending and receiving a segment.
class Room {
 public:
  void fit(std::size_t sent, std::size_t received) {
    const std::size_t bytes = sent + received;
    if (bytes > room_) {
      memory_.reset();  // release before allocating more
      memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
      room_ = bytes;
    }
    sent_ = sent;
    received_ = received;
  }
  std::span<std::byte> sent() noexcept { return {memory_.get(), sent_}; }
  std::span<std::byte> received() noexcept { return {memory_.get() + sent_, received_}; }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t room_ = 0;
  std::size_t sent_ = 0;
  std::size_t received_ = 0;
};

struct Arrival {
  Segment segment;
  Room room;
};

class Local final : public Planner {
 public:
  Local(int rank, RequestsOf requests_of) : rank_(rank), requests_of_(std::move(requests_of)) {}
  Planned plan(std::uint64_t batch) override { return {.requests = requests_of_(rank_, batch)}; }

 private:
  int rank_;
  RequestsOf requests_of_;
};

// State shared by the thread and the planner. The thread keeps it alive, because after a failure
// elsewhere it may stay waiting for other ranks.
struct Traffic {
  Traffic(std::shared_ptr<const Spread> over, RequestsOf requests, std::uint64_t load_seed)
      : spread(std::move(over)), requests_of(std::move(requests)), seed(load_seed) {}

  const std::shared_ptr<const Spread> spread;
  const RequestsOf requests_of;
  const std::uint64_t seed;

  std::mutex mutex;  // guards the fields below
  std::condition_variable changed;
  std::uint64_t wanted = 1;  // number of segments that may be started
  Room free;                 // memory of the last loaded segment
  std::optional<Arrival> arrived;
  std::exception_ptr failure;
  bool working = false;  // uses cache and communicator
  bool idle = false;     // everything started has arrived
  bool ended = false;    // the thread has ended
  bool stopping = false;

  void run() noexcept;

 private:
  Arrival begin(std::uint64_t number, std::uint64_t first, Room room) const;
};

// A segment with what this rank sends.
Arrival Traffic::begin(std::uint64_t number, std::uint64_t first, Room room) const {
  // The first step should not wait for more than it needs, nor the second for much more.
  const SegmentLimits limits{.bytes = spread->segment_bytes,
                             .batches = std::uint64_t{1} << std::min<std::uint64_t>(number, 20)};
  Arrival next{.segment = plan_segment(spread->comm.rank(), first, limits, requests_of,
                                       spread->holders, spread->sizes),
               .room = std::move(room)};
  next.room.fit(next.segment.sent_offsets.back(), next.segment.received_offsets.back());
  for (const Parcel& parcel : next.segment.sent) {
    const RecordView record =
        spread->cache.record(parcel.request.id, variant_of(parcel.request, seed));
    pack_record(record, next.room.sent().subspan(parcel.begin, parcel.bytes));
  }
  return next;
}

void Traffic::run() noexcept {
  name_thread("exchange");
  try {
    std::uint64_t first = 0;
    for (std::uint64_t number = 0;; ++number) {
      Room room;
      {
        std::unique_lock lock(mutex);
        idle = wanted == number;
        changed.notify_all();
        changed.wait(lock, [&] { return stopping || wanted > number; });
        if (stopping) break;
        working = true;
        room = std::move(free);
      }
      Arrival next = begin(number, first, std::move(room));
      first = next.segment.end;
      const bool last = next.segment.first == next.segment.end;
      comm::Pending exchange;
      if (!last) {
        exchange = spread->comm.start_all_to_all(
            next.room.sent(), next.segment.sent_offsets, next.room.received(),
            next.segment.received_offsets, comm::kExchangeOptions);
      }
      {
        const std::lock_guard lock(mutex);
        working = false;
        changed.notify_all();
      }
      exchange.wait();
      const std::lock_guard lock(mutex);
      arrived = std::move(next);
      changed.notify_all();
      if (stopping || last) break;
    }
  } catch (...) {
    const std::lock_guard lock(mutex);
    failure = std::current_exception();
  }
  const std::lock_guard lock(mutex);
  working = false;
  idle = true;
  ended = true;
  changed.notify_all();
}

class Exchange final : public Planner {
 public:
  Exchange(std::shared_ptr<const Spread> spread, RequestsOf requests_of, std::uint64_t seed)
      : traffic_(std::make_shared<Traffic>(std::move(spread), std::move(requests_of), seed)),
        thread_([traffic = traffic_] { traffic->run(); }) {}

  ~Exchange() override {
    stop();
    std::unique_lock lock(traffic_->mutex);
    traffic_->changed.wait(lock, [&] { return !traffic_->working; });
    if (traffic_->ended || traffic_->idle) {
      lock.unlock();
      thread_.join();
    } else {  // another rank may never send what this one waits for
      thread_.detach();
    }
  }

  Planned plan(std::uint64_t batch) override {
    while (batch >= current_.segment.end) {
      if (!take_next()) return {};
    }
    const std::size_t i = batch - current_.segment.first;
    return {.requests = std::move(current_.segment.requests[i]), .packs = std::move(packs_[i])};
  }

  void stop() noexcept override {
    const std::lock_guard lock(traffic_->mutex);
    traffic_->stopping = true;
    traffic_->changed.notify_all();
  }

  std::uint64_t received_bytes() const noexcept override { return received_bytes_; }
  std::uint64_t sent_bytes() const noexcept override { return sent_bytes_; }

  void settle() override {
    std::unique_lock lock(traffic_->mutex);
    traffic_->changed.wait(lock, [&] { return traffic_->idle; });
  }

 private:
  // Waits for the next segment, and returns the memory of the current one; false at the end.
  bool take_next() {
    {
      Traffic& t = *traffic_;
      std::unique_lock lock(t.mutex);
      t.changed.wait(lock, [&] { return t.stopping || t.failure || t.arrived; });
      if (t.stopping) return false;
      if (!t.arrived) std::rethrow_exception(t.failure);
      if (t.arrived->segment.first == t.arrived->segment.end) return false;
      t.free = std::move(current_.room);
      current_ = *std::exchange(t.arrived, std::nullopt);
      ++t.wanted;
      t.idle = false;
      t.changed.notify_all();
    }
    const Segment& segment = current_.segment;
    received_bytes_ += segment.received_offsets.back();
    sent_bytes_ += segment.sent_offsets.back();
    packs_.assign(segment.requests.size(), {});
    for (std::size_t i = 0; i < packs_.size(); ++i) packs_[i].resize(segment.requests[i].size());
    for (const Parcel& parcel : segment.received) {
      packs_[parcel.batch - segment.first][parcel.row] =
          current_.room.received().subspan(parcel.begin, parcel.bytes);
    }
    return true;
  }

  std::shared_ptr<Traffic> traffic_;
  Arrival current_;
  std::vector<std::vector<BytesView>> packs_;  // by batch of the segment
  std::atomic<std::uint64_t> received_bytes_{0};
  std::atomic<std::uint64_t> sent_bytes_{0};
  std::thread thread_;
};

}  // namespace

std::shared_ptr<const Spread> spread(const Cache& cache, comm::Communicator& comm,
                                     const Placement& placement) {
  if (placement.held.empty()) return nullptr;
  Holders holders(cache.manifest().shards, placement);
  if (holders.all_have_all()) return nullptr;
  RecordSizes sizes = gather_sizes(cache, comm, holders);
  return std::make_shared<const Spread>(
      Spread{cache, comm, std::move(holders), std::move(sizes), placement.segment_bytes});
}

std::shared_ptr<Planner> make_planner(std::shared_ptr<const Spread> spread, int rank,
                                      RequestsOf requests_of, std::uint64_t seed) {
  if (!spread) return std::make_shared<Local>(rank, std::move(requests_of));
  return std::make_shared<Exchange>(std::move(spread), std::move(requests_of), seed);
}

}  // namespace winnow::pipeline
