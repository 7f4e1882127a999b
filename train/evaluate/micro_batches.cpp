#include "train/evaluate/micro_batches.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>

#include "pipeline/load/order.h"

namespace winnow::train {
namespace {

// Plans what a rank loads. All ranks load equally many batches; padding batches at the end are not
// used.
pipeline::RequestsOf requests_of(const Shares& shares, const pipeline::SampleSet& samples) {
  const std::int64_t longest = (shares.micro_batches() + shares.ranks - 1) / shares.ranks;
  return [&samples, shares, longest](int rank, std::uint64_t i) {
    std::vector<pipeline::Request> requests;
    if (static_cast<std::int64_t>(i) >= longest) return requests;
    const auto [begin, end] = shares.micro_batches_of(rank);
    const std::int64_t micro = begin + static_cast<std::int64_t>(i);
    const std::size_t m = shares.micro_batch;
    for (std::size_t k = static_cast<std::size_t>(micro) * m; requests.size() < m; ++k) {
      requests.push_back(micro < end && k < samples.size() ? pipeline::Request{.id = samples.ids[k]}
                                                           : pipeline::Request{.weight = 0});
    }
    return requests;
  };
}

// Distributes micro-batches [first, last) to lanes as they become free.
class Dealer {
 public:
  Dealer(std::pair<std::int64_t, std::int64_t> range, pipeline::Loader& loader,
         const ComputeMicroBatch& compute, const ProgressSink& progress, const std::string& note)
      : range_(range),
        loader_(loader),
        compute_(compute),
        progress_(progress),
        note_(note),
        next_(range.first) {}

  void run(std::size_t lanes) {
    std::vector<std::thread> threads;
    for (std::size_t lane = 1; lane < lanes; ++lane) {
      threads.emplace_back([this, lane] { work(lane); });
    }
    work(0);
    for (std::thread& thread : threads) thread.join();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void work(std::size_t lane) noexcept {
    try {
      pipeline::Batch batch;
      for (std::int64_t micro = 0; take(batch, micro);) {
        compute_(lane, batch, micro);
        tell();
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
  }

  // Takes the next micro-batch. Returns false if there is none, or another lane failed.
  bool take(pipeline::Batch& batch, std::int64_t& micro) {
    const std::lock_guard lock(mutex_);
    if (failure_ || next_ == range_.second) return false;
    batch = loader_.next(std::move(batch));
    micro = next_++;
    return true;
  }

  void tell() {
    const std::lock_guard lock(mutex_);
    ++done_;
    if (!progress_) return;
    progress_({.done = done_,
               .total = static_cast<std::uint64_t>(range_.second - range_.first),
               .note = note_});
  }

  const std::pair<std::int64_t, std::int64_t> range_;
  pipeline::Loader& loader_;
  const ComputeMicroBatch& compute_;
  const ProgressSink& progress_;
  const std::string& note_;
  std::mutex mutex_;  // guards the loader, progress and the following members
  std::int64_t next_;
  std::uint64_t done_ = 0;
  std::exception_ptr failure_;
};

}  // namespace

std::int64_t Shares::micro_batches() const {
  return static_cast<std::int64_t>((samples + micro_batch - 1) / micro_batch);
}

std::pair<std::int64_t, std::int64_t> Shares::micro_batches_of(int rank) const {
  return pipeline::share(micro_batches(), rank, ranks);
}

std::pair<std::size_t, std::size_t> Shares::samples_of(int rank) const {
  const auto [first, last] = micro_batches_of(rank);
  return {std::min(samples, static_cast<std::size_t>(first) * micro_batch),
          std::min(samples, static_cast<std::size_t>(last) * micro_batch)};
}

std::vector<std::size_t> Shares::bytes_of_ranks(std::size_t bytes_of_sample) const {
  std::vector<std::size_t> sizes;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto [begin, end] = samples_of(rank);
    sizes.push_back((end - begin) * bytes_of_sample);
  }
  return sizes;
}

void for_each_micro_batch(const SamplePass& pass, const pipeline::LoadOptions& load,
                          comm::Communicator& comm, std::size_t lanes,
                          const ComputeMicroBatch& compute, const ProgressSink& progress) {
  pipeline::Loader loader(
      *pass.source.cache, load,
      pipeline::make_planner(pass.source.spread, comm.rank(),
                             requests_of(pass.shares, pass.samples), load.seed));
  Dealer(pass.shares.micro_batches_of(comm.rank()), loader, compute, progress, pass.note)
      .run(lanes);
  loader.settle();
}

}  // namespace winnow::train
