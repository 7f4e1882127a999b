#include "train/evaluate/micro_batches.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "pipeline/load/order.h"

namespace winnow::train {
namespace {

using Rounds = std::vector<std::optional<Turn>>;

// Plans what a rank loads: in a round without a turn one padding sample.
pipeline::RequestsOf requests_of(const Shares& shares, const pipeline::SampleSet& samples) {
  std::vector<Rounds> all;
  for (int rank = 0; rank < shares.stages.total(); ++rank) all.push_back(rounds_of(shares, rank));
  return [&samples, m = shares.micro_batch, all = std::move(all)](int rank, std::uint64_t round) {
    const Rounds& rounds = all[static_cast<std::size_t>(rank)];
    std::vector<pipeline::Request> requests;
    if (round >= rounds.size()) return requests;
    const std::optional<Turn>& turn = rounds[round];
    if (!turn) return std::vector<pipeline::Request>{{.weight = 0}};
    for (std::size_t k = static_cast<std::size_t>(turn->micro) * m; requests.size() < m; ++k) {
      requests.push_back(k < samples.size() ? pipeline::Request{.id = samples.ids[k]}
                                            : pipeline::Request{.weight = 0});
    }
    return requests;
  };
}

// Distributes the turns of a rank to lanes as they become free.
class Dealer {
 public:
  Dealer(const Rounds& rounds, pipeline::Loader& loader, const ComputeMicroBatch& compute,
         const ProgressSink& progress, const std::string& note)
      : rounds_(rounds),
        loader_(loader),
        compute_(compute),
        progress_(progress),
        note_(note),
        turns_(static_cast<std::uint64_t>(std::ranges::count_if(
            rounds, [](const std::optional<Turn>& turn) { return turn.has_value(); }))) {}

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
      while (const std::optional<Turn> turn = take(batch)) {
        compute_(lane, batch, *turn);
        tell();
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
  }

  // Takes the next turn. Returns nullopt if there is none, or another lane failed. Batches of
  // rounds without a turn are taken too, because other ranks load theirs at the same time.
  std::optional<Turn> take(pipeline::Batch& batch) {
    const std::lock_guard lock(mutex_);
    while (!failure_ && next_ < rounds_.size()) {
      batch = loader_.next(std::move(batch));
      if (const std::optional<Turn>& turn = rounds_[next_++]) return turn;
    }
    return std::nullopt;
  }

  void tell() {
    const std::lock_guard lock(mutex_);
    ++done_;
    if (progress_) progress_({.done = done_, .total = turns_, .note = note_});
  }

  const Rounds& rounds_;
  pipeline::Loader& loader_;
  const ComputeMicroBatch& compute_;
  const ProgressSink& progress_;
  const std::string& note_;
  const std::uint64_t turns_;
  std::mutex mutex_;  // guards the loader, progress and the following members
  std::size_t next_ = 0;
  std::uint64_t done_ = 0;
  std::exception_ptr failure_;
};

// All micro-batches in the order of rounds, with the rank that has the result: the first of each
// rank of the last stage, then the second of each.
std::vector<std::pair<std::int64_t, int>> in_rounds(const Shares& shares) {
  const RankStages& stages = shares.stages;
  std::vector<std::pair<std::int64_t, int>> order;
  for (std::int64_t i = 0; order.size() < static_cast<std::size_t>(shares.micro_batches()); ++i) {
    for (const int rank : stages.members(stages.count() - 1)) {
      const auto [first, last] = shares.micro_batches_of(rank);
      if (first + i < last) order.emplace_back(first + i, rank);
    }
  }
  return order;
}

}  // namespace

std::int64_t Shares::micro_batches() const {
  return static_cast<std::int64_t>((samples + micro_batch - 1) / micro_batch);
}

std::pair<std::int64_t, std::int64_t> Shares::micro_batches_of(int rank) const {
  if (stages.stage_of(rank) + 1 < stages.count()) return {0, 0};
  const RankOf place = stages.place_of(rank);
  return pipeline::share(micro_batches(), place.rank, place.ranks);
}

std::pair<std::size_t, std::size_t> Shares::samples_of(int rank) const {
  const auto [first, last] = micro_batches_of(rank);
  return {std::min(samples, static_cast<std::size_t>(first) * micro_batch),
          std::min(samples, static_cast<std::size_t>(last) * micro_batch)};
}

std::vector<std::size_t> Shares::bytes_of_ranks(std::size_t bytes_of_sample) const {
  std::vector<std::size_t> sizes;
  for (int rank = 0; rank < stages.total(); ++rank) {
    const auto [begin, end] = samples_of(rank);
    sizes.push_back((end - begin) * bytes_of_sample);
  }
  return sizes;
}

std::vector<std::optional<Turn>> rounds_of(const Shares& shares, int rank) {
  const RankStages& stages = shares.stages;
  Rounds rounds;
  if (!stages.is_pipeline()) {
    const auto [first, last] = shares.micro_batches_of(rank);
    for (std::int64_t m = first; m < last; ++m) rounds.push_back(Turn{m, m - first});
    const auto ranks = static_cast<std::int64_t>(stages.total());
    rounds.resize(static_cast<std::size_t>((shares.micro_batches() + ranks - 1) / ranks));
    return rounds;
  }
  const int stage = stages.stage_of(rank);
  std::int64_t turns = 0;
  for (const auto& [micro, last_rank] : in_rounds(shares)) {
    const auto rank_in = [&, last = last_rank](int s) {
      if (s + 1 == stages.count()) return last;
      const int ranks = stages.ranks[static_cast<std::size_t>(s)];
      return stages.first_rank(s) +
             static_cast<int>(rounds.size() % static_cast<std::size_t>(ranks));
    };
    std::optional<Turn> turn;
    if (rank_in(stage) == rank) {
      turn = Turn{.micro = micro, .number = turns++};
      if (stage > 0) turn->from = rank_in(stage - 1);
      if (stage + 1 < stages.count()) turn->to = rank_in(stage + 1);
    }
    rounds.push_back(turn);
  }
  return rounds;
}

void for_each_micro_batch(const SamplePass& pass, const pipeline::LoadOptions& load,
                          comm::Communicator& comm, std::size_t lanes,
                          const ComputeMicroBatch& compute, const ProgressSink& progress) {
  const Rounds rounds = rounds_of(pass.shares, comm.rank());
  pipeline::Loader loader(
      *pass.source.cache, load,
      pipeline::make_planner(pass.source.spread, comm.rank(),
                             requests_of(pass.shares, pass.samples), load.seed));
  Dealer(rounds, loader, compute, progress, pass.note).run(lanes);
  loader.settle();
}

}  // namespace winnow::train
