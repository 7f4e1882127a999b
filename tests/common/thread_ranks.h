#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <span>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/comm/communicator.h"

namespace winnow::test {

// Ranks that are threads of this process: collectives without MPI.
// Machines    Each rank has its own, unless `nodes` says otherwise.
// Hand-overs  Each is one transfer, of floats.
// Errors      No rank may fail.
class ThreadRanks {
 public:
  explicit ThreadRanks(int ranks, std::vector<int> nodes = {})
      : ranks_(ranks), nodes_(std::move(nodes)) {
    if (nodes_.empty()) {
      nodes_.resize(static_cast<std::size_t>(ranks));
      std::iota(nodes_.begin(), nodes_.end(), 0);
    }
  }

  // Calls `work` on every rank. Returns when all calls have returned.
  void run(const std::function<void(comm::Communicator&)>& work) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks_; ++rank) {
      threads.emplace_back([this, rank, &work] {
        Rank comm(*this, rank);
        work(comm);
      });
    }
    for (std::thread& thread : threads) thread.join();
    operations_.clear();
  }

 private:
  struct Operation {
    std::vector<std::span<std::byte>> in_place;       // for each rank
    std::vector<std::span<const std::byte>> out;      // for each rank
    std::vector<std::span<const std::size_t>> parts;  // parts of `out`
    int here = 0;
    int done = 0;
  };

  class Rank final : public comm::Communicator {
   public:
    Rank(ThreadRanks& all, int rank) : all_(all), rank_(rank), placement_{rank, all.nodes_} {}
    int rank() const noexcept override { return rank_; }
    int size() const noexcept override { return all_.ranks_; }
    int local_rank() const noexcept override { return 0; }
    int local_size() const noexcept override { return 1; }
    const comm::Placement& placement() const noexcept override { return placement_; }

    // Transfers only decide the order of additions. Here it is the order of ranks.
    comm::Pending start(const comm::Collective& what,
                        std::span<const comm::Transfer> transfers) override {
      if (what.task == comm::Task::kHandOver) return hand_over(what, transfers.front());
      comm::visit(what.buffer, [&]<class T>(std::span<T> buffer) {
        if constexpr (std::is_integral_v<T>) {
          reduce_integers(buffer, what.reduction);
        } else if constexpr (std::is_floating_point_v<T>) {
          reduce(buffer, std::plus<>{});
        } else {
          throw std::logic_error("ranks that are threads add no elements of this type");
        }
      });
      return {};
    }
    comm::Pending start(std::span<float> buffer, const comm::HierarchicalParts&,
                        comm::Wire) override {
      reduce(buffer, std::plus<>{});
      return {};
    }
    bool can_share_memory() override { return true; }
    comm::Pending start_all_to_all(std::span<const std::byte> out,
                                   std::span<const std::size_t> out_offsets,
                                   std::span<std::byte> in, std::span<const std::size_t> in_offsets,
                                   const comm::ScheduleOptions&) override {
      Operation& operation = all_.enter(2 * data_++ + 1, rank_, {}, out, out_offsets);
      return comm::Pending([this, &operation, in, in_offsets] {
        all_.wait_for_all(operation);
        const auto me = static_cast<std::size_t>(rank_);
        for (std::size_t r = 0; r < operation.out.size(); ++r) {
          const std::size_t begin = operation.parts[r][me];
          const std::size_t bytes = operation.parts[r][me + 1] - begin;
          if (bytes != in_offsets[r + 1] - in_offsets[r]) {
            throw std::logic_error("the sizes of a part differ");
          }
          std::ranges::copy(operation.out[r].subspan(begin, bytes),
                            in.subspan(in_offsets[r]).begin());
        }
        all_.leave(operation);
      });
    }
    void use_checksums(bool) override {}
    void library_all_reduce(const comm::Elements& buffer) override { start({buffer}, {}).wait(); }
    void all_reduce(std::span<double> buffer) override { reduce(buffer, std::plus<>{}); }
    void all_reduce(std::span<std::uint64_t> buffer) override { reduce(buffer, std::plus<>{}); }
    void broadcast(std::span<std::byte> buffer, int root) override {
      Operation& operation = all_.enter(2 * control_++, rank_, buffer, {}, {});
      all_.wait_for_all(operation);
      if (rank_ != root) {
        std::ranges::copy(operation.in_place[static_cast<std::size_t>(root)], buffer.begin());
      }
      all_.leave(operation);
    }
    void all_to_all(std::span<const std::byte> out, std::span<const std::size_t> out_offsets,
                    std::span<std::byte> in, std::span<const std::size_t> in_offsets) override {
      start_all_to_all(out, out_offsets, in, in_offsets, {}).wait();
    }
    void barrier() override { broadcast({}, 0); }
    // For this rank alone: no test here asks when the others arrived.
    Arrival start_barrier() override { return comm::make_single()->start_barrier(); }
    double adding_seconds() const noexcept override { return 0; }
    [[noreturn]] void abort(int exit_code) noexcept override { std::_Exit(exit_code); }

   private:
    comm::Pending hand_over(const comm::Collective& what, const comm::Transfer& transfer) {
      const std::pair message{what.group, messages_[what.group]++};
      const std::span<std::byte> bytes = what.buffer.bytes;
      if (transfer.kind == comm::Transfer::Kind::kSend) {
        all_.post(message, {bytes.begin(), bytes.end()});
        return {};
      }
      return comm::Pending(
          [this, message, bytes] { std::ranges::copy(all_.take(message), bytes.begin()); });
    }

    template <class T>
    void reduce_integers(std::span<T> buffer, comm::Reduction reduction) {
      if (reduction == comm::Reduction::kMax) {
        reduce(buffer, [](T a, T b) { return std::max(a, b); });
      } else {
        reduce(buffer, std::plus<>{});
      }
    }

    template <class T, class Combine>
    void reduce(std::span<T> buffer, const Combine& combine) {
      const std::vector<T> mine(buffer.begin(), buffer.end());
      const auto bytes = std::as_bytes(std::span(mine));
      Operation& operation = all_.enter(2 * control_++, rank_, {}, bytes, {});
      all_.wait_for_all(operation);
      for (std::size_t i = 0; i < buffer.size(); ++i) {
        const auto of = [&](std::size_t r) {
          return reinterpret_cast<const T*>(operation.out[r].data())[i];
        };
        buffer[i] = of(0);
        for (std::size_t r = 1; r < operation.out.size(); ++r)
          buffer[i] = combine(buffer[i], of(r));
      }
      all_.leave(operation);
    }

    ThreadRanks& all_;
    int rank_;
    const comm::Placement placement_;
    std::uint64_t control_ = 0;
    std::uint64_t data_ = 0;
    std::map<std::uint32_t, int> messages_;  // hand-overs so far, by group
  };

  using Message = std::pair<std::uint32_t, int>;  // group, and number in the group
  void post(const Message& message, std::vector<std::byte> bytes) {
    const std::lock_guard lock(mutex_);
    posted_[message] = std::move(bytes);
    changed_.notify_all();
  }
  std::vector<std::byte> take(const Message& message) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return posted_.contains(message); });
    return std::move(posted_.extract(message).mapped());
  }

  Operation& enter(std::uint64_t number, int rank, std::span<std::byte> in_place,
                   std::span<const std::byte> out, std::span<const std::size_t> parts) {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<Operation>& operation = operations_[number];
    const auto ranks = static_cast<std::size_t>(ranks_);
    if (!operation) {
      operation = std::make_unique<Operation>();
      operation->in_place.resize(ranks);
      operation->out.resize(ranks);
      operation->parts.resize(ranks);
    }
    operation->in_place[static_cast<std::size_t>(rank)] = in_place;
    operation->out[static_cast<std::size_t>(rank)] = out;
    operation->parts[static_cast<std::size_t>(rank)] = parts;
    ++operation->here;
    changed_.notify_all();
    return *operation;
  }
  void wait_for_all(const Operation& operation) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return operation.here == ranks_; });
  }
  // When it returns, the memory of all ranks is unused.
  void leave(Operation& operation) {
    std::unique_lock lock(mutex_);
    ++operation.done;
    changed_.notify_all();
    changed_.wait(lock, [&] { return operation.done == ranks_; });
  }

  const int ranks_;
  std::vector<int> nodes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint64_t, std::unique_ptr<Operation>> operations_;
  std::map<Message, std::vector<std::byte>> posted_;  // hand-overs that are under way
};

}  // namespace winnow::test
