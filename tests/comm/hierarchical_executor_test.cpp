#include "common/comm/hierarchical_executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "common/comm/node/threads.h"
#include "common/error.h"

// Ranks are threads, including those of other machines.

namespace winnow::comm::hierarchical_executor_test {

using Machines = std::vector<std::vector<int>>;  // [m]: ranks of machine m

std::vector<int> node_of(const Machines& machines) {
  std::vector<int> nodes(machines.size());
  for (std::size_t m = 0; m < machines.size(); ++m) {
    for (const int rank : machines[m]) {
      nodes.resize(std::max(nodes.size(), static_cast<std::size_t>(rank) + 1));
      nodes[static_cast<std::size_t>(rank)] = static_cast<int>(m);
    }
  }
  return nodes;
}

class Naps {
 public:
  explicit Naps(std::uint32_t seed) : random_(seed) {}
  void maybe() {
    if (random_() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random_() % 200));
  }

 private:
  std::mt19937 random_;
};

// Messages between ranks of different machines. A rank that has left sends no more; ranks that wait
// for it get an exception.
class Network {
 public:
  void send(int from, int to, std::uint64_t operation, int chain, std::vector<float> message) {
    const std::lock_guard lock(mutex_);
    boxes_[{from, to, operation, chain}].push_back(std::move(message));
    changed_.notify_all();
  }
  std::vector<float> receive(int from, int to, std::uint64_t operation, int chain) {
    std::unique_lock lock(mutex_);
    auto& box = boxes_[{from, to, operation, chain}];
    changed_.wait(lock, [&] { return !box.empty() || left_.count(from) > 0; });
    if (box.empty()) throw SystemError("rank " + std::to_string(from) + " has left");
    std::vector<float> message = std::move(box.front());
    box.pop_front();
    return message;
  }
  void leave(int rank) {
    const std::lock_guard lock(mutex_);
    left_.insert(rank);
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::tuple<int, int, std::uint64_t, int>, std::deque<std::vector<float>>> boxes_;
  std::set<int> left_;
};

void carry_out(Network& network, int rank, std::uint64_t operation, std::span<float> share,
               std::span<const Transfer> transfers, std::uint32_t seed) {
  Naps naps(seed);
  for (const Transfer& transfer : transfers) {
    const std::span<float> range = share.subspan(transfer.begin, transfer.count);
    naps.maybe();
    if (transfer.kind == Transfer::Kind::kSend) {
      network.send(rank, transfer.peer, operation, transfer.chain, {range.begin(), range.end()});
      continue;
    }
    const std::vector<float> message =
        network.receive(transfer.peer, rank, operation, transfer.chain);
    ASSERT_EQ(message.size(), range.size());
    for (std::size_t i = 0; i < range.size(); ++i) {
      range[i] = transfer.kind == Transfer::Kind::kReceiveAdd ? range[i] + message[i] : message[i];
    }
  }
}

// Where a rank fails: the operation and its phase.
enum class In { kReduceScatter, kBetween, kAllGather };
struct Fault {
  int rank;
  In phase;
  std::uint64_t operation;
};

class FaultyGroup final : public NodeGroup {
 public:
  FaultyGroup(std::unique_ptr<NodeGroup> group, std::optional<Fault> fault, std::uint32_t seed)
      : group_(std::move(group)), fault_(fault), naps_(seed) {}
  int rank() const noexcept override { return group_->rank(); }
  int size() const noexcept override { return group_->size(); }
  void start_reduce_scatter(std::span<float> buffer, std::span<const std::size_t> shares) override {
    group_->start_reduce_scatter(buffer, shares);
  }
  void start_all_gather(std::span<float> buffer, std::span<const std::size_t> shares) override {
    gathers_ = true;
    group_->start_all_gather(buffer, shares);
  }
  NodeProgress advance() override {
    naps_.maybe();
    const NodeProgress progress = group_->advance();
    if (fault_ && fault_->phase == In::kReduceScatter &&
        progress.reduce_scatters == fault_->operation) {
      throw SystemError("on purpose");
    }
    if (fault_ && fault_->phase == In::kAllGather && gathers_ &&
        progress.all_gathers == fault_->operation) {
      throw SystemError("on purpose");
    }
    return progress;
  }
  void leave() noexcept override { group_->leave(); }

 private:
  std::unique_ptr<NodeGroup> group_;
  const std::optional<Fault> fault_;
  bool gathers_ = false;
  Naps naps_;
};

float term(int rank, std::size_t bucket, std::size_t i, bool whole) {
  const auto number =
      static_cast<double>(
          (i * 7919 + bucket * 104'729 + static_cast<std::size_t>(rank) * 15'485'863) % 2001) -
      1000;
  return static_cast<float>(whole ? number : number / 777);
}

std::vector<float> terms(int rank, std::size_t bucket, std::size_t count, bool whole) {
  std::vector<float> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = term(rank, bucket, i, whole);
  return out;
}

struct Outcome {
  std::vector<std::vector<float>> sums;  // for each bucket
  std::string error;
};

struct Workload {
  Machines machines;
  std::vector<std::size_t> counts;  // for each bucket
  ScheduleOptions options{.colors = 2, .segment_elements = 5000};
  bool whole = false;
  std::size_t in_flight = 100;
  std::uint32_t seed = 1;
  std::optional<Fault> fault{};
};

void run_rank(const Workload& work, int rank, std::unique_ptr<NodeGroup> group, Network& network,
              Outcome& outcome) {
  const std::uint32_t seed = work.seed * 100 + static_cast<std::uint32_t>(rank);
  const std::optional<Fault> fault =
      work.fault && work.fault->rank == rank ? work.fault : std::nullopt;
  const Placement placement{rank, node_of(work.machines)};
  std::vector<HierarchicalParts> parts;
  for (std::size_t bucket = 0; bucket < work.counts.size(); ++bucket) {
    parts.push_back(hierarchical_parts(placement, work.counts[bucket], work.options));
    outcome.sums.push_back(terms(rank, bucket, work.counts[bucket], work.whole));
  }
  std::uint64_t number = 0;
  const auto between = [&](std::span<float> share, std::span<const Transfer> transfers, Wire) {
    const std::uint64_t operation = number++;
    return std::async(
               std::launch::async,
               [=, &network] {
                 if (fault && fault->phase == In::kBetween && operation == fault->operation) {
                   throw SystemError("on purpose");
                 }
                 carry_out(network, rank, operation, share, transfers,
                           seed + static_cast<std::uint32_t>(operation));
               })
        .share();
  };
  std::vector<std::shared_future<void>> pending;
  try {
    HierarchicalExecutor executor(std::make_unique<FaultyGroup>(std::move(group), fault, seed),
                                  between);
    const auto wait = [&](std::size_t bucket) {
      try {
        pending[bucket].get();
      } catch (...) {
        network.leave(rank);  // like the end of a process
        throw;
      }
    };
    for (std::size_t bucket = 0; bucket < work.counts.size(); ++bucket) {
      if (bucket >= work.in_flight) wait(bucket - work.in_flight);
      pending.push_back(executor.submit(outcome.sums[bucket], parts[bucket], Wire::kF32));
    }
    for (std::size_t bucket = 0; bucket < work.counts.size(); ++bucket) wait(bucket);
  } catch (const Error& error) {
    outcome.error = error.what();
    for (std::vector<float>& sum : outcome.sums) std::vector<float>().swap(sum);
  }
}

std::vector<Outcome> execute(const Workload& work) {
  Network network;
  std::vector<Outcome> outcomes(node_of(work.machines).size());
  std::vector<std::thread> threads;
  for (const std::vector<int>& machine : work.machines) {
    auto groups = make_thread_group(static_cast<int>(machine.size()));
    for (std::size_t local = 0; local < machine.size(); ++local) {
      threads.emplace_back(run_rank, std::cref(work), machine[local], std::move(groups[local]),
                           std::ref(network),
                           std::ref(outcomes[static_cast<std::size_t>(machine[local])]));
    }
  }
  for (std::thread& thread : threads) thread.join();
  return outcomes;
}

void expect_sums(const Workload& work, const std::vector<Outcome>& outcomes) {
  for (std::size_t bucket = 0; bucket < work.counts.size(); ++bucket) {
    const std::vector<float>& first = outcomes[0].sums[bucket];
    for (std::size_t i = 0; i < first.size(); ++i) {
      double sum = 0;
      for (int rank = 0; rank < static_cast<int>(outcomes.size()); ++rank) {
        sum += term(rank, bucket, i, work.whole);
      }
      ASSERT_NEAR(first[i], sum, work.whole ? 0 : 1e-5)
          << "element " << i << " of " << first.size();
    }
    for (const Outcome& outcome : outcomes) {
      ASSERT_EQ(outcome.error, "");
      if (first.empty()) continue;
      ASSERT_EQ(std::memcmp(outcome.sums[bucket].data(), first.data(), first.size() * 4), 0);
    }
  }
}

std::vector<Machines> all_machines() {
  return {{{0}},
          {{0, 1}},
          {{0, 1, 2, 3, 4}},
          {{0}, {1}, {2}},
          {{0, 1, 2, 3}, {4, 5, 6, 7}},
          {{0, 2, 4, 6}, {1, 3, 5, 7}},
          {{0, 1}, {2, 3}, {4, 5}},
          {{0, 3}, {1, 4}, {2, 5}},
          {{0, 1, 2}, {3}},
          {{0}, {1, 2, 3}},
          {{0, 3, 5, 6}, {1, 4}, {2}}};
}

class HierarchicalExecutorTest : public testing::TestWithParam<Machines> {};

TEST_P(HierarchicalExecutorTest, SumsBucketsOfAllSizesInFlight) {
  for (const bool whole : {true, false}) {
    const Workload work{.machines = GetParam(),
                        .counts = {1009, 0, 1, 2, 3, 7, 17, 33, 40'009, 5, 100'003, 64},
                        .whole = whole};
    expect_sums(work, execute(work));
  }
}

TEST_P(HierarchicalExecutorTest, HasTheSameBitsRunAfterRun) {
  Workload work{.machines = GetParam(), .counts = {10'007, 333, 20'000, 1}, .in_flight = 2};
  const std::vector<Outcome> first = execute(work);
  for (std::uint32_t seed = 2; seed < 5; ++seed) {
    work.seed = seed;
    const std::vector<Outcome> again = execute(work);
    for (std::size_t bucket = 0; bucket < work.counts.size(); ++bucket) {
      EXPECT_EQ(std::memcmp(again[0].sums[bucket].data(), first[0].sums[bucket].data(),
                            work.counts[bucket] * 4),
                0);
    }
  }
}

// Whichever rank fails in whichever phase, every rank gets an error and can free its buffers at
// once.
TEST_P(HierarchicalExecutorTest, EndsAllRanksWhenOneFails) {
  const Machines& machines = GetParam();
  const auto ranks = static_cast<int>(node_of(machines).size());
  for (const In phase : {In::kReduceScatter, In::kBetween, In::kAllGather}) {
    if (phase == In::kBetween && machines.size() == 1) continue;
    for (int rank = 0; rank < ranks; ++rank) {
      const Workload work{.machines = machines,
                          .counts = std::vector<std::size_t>(9, 70'000),
                          .in_flight = 3,
                          .fault = Fault{rank, phase, 3}};
      if (phase == In::kBetween &&
          hierarchical_parts({rank, node_of(machines)}, 70'000, work.options).between.empty()) {
        continue;
      }
      const std::vector<Outcome> outcomes = execute(work);
      for (int other = 0; other < ranks; ++other) {
        const std::string& error = outcomes[static_cast<std::size_t>(other)].error;
        if (other == rank) {
          EXPECT_EQ(error, "on purpose");
        } else {
          EXPECT_THAT(error, testing::HasSubstr("has left"));
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, HierarchicalExecutorTest, testing::ValuesIn(all_machines()));

// Ranks wait in different orders, which messages allow.
TEST(HierarchicalExecutor, DoesNotHoldUpAnAllGatherForALaterReduceScatter) {
  Network network;
  auto groups = make_thread_group(2);
  std::vector<std::vector<float>> first(2, std::vector<float>(50'000, 1));
  std::vector<std::vector<float>> second = first;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      const auto at = static_cast<std::size_t>(rank);
      const HierarchicalParts parts = hierarchical_parts({rank, {0, 0}}, 50'000, {});
      HierarchicalExecutor executor(std::move(groups[at]), {});
      auto of_first = executor.submit(first[at], parts, Wire::kF32);
      if (rank == 1) of_first.wait();  // before it begins the second
      auto of_second = executor.submit(second[at], parts, Wire::kF32);
      of_second.get();
      of_first.get();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& buffer : {first[0], first[1], second[0], second[1]}) {
    EXPECT_THAT(buffer, testing::Each(2.0F));
  }
}

TEST(NodeGroup, RefusesSharesThatAreNotOfTheBuffer) {
  const auto group = make_thread_group(2);
  std::vector<float> buffer(10);
  for (const std::vector<std::size_t>& shares :
       {std::vector<std::size_t>{0, 10}, {0, 11, 11}, {5, 2, 10}}) {
    EXPECT_THROW(group[0]->start_reduce_scatter(buffer, shares), Error);
    EXPECT_THROW(group[0]->start_all_gather(buffer, shares), Error);
  }
}

TEST(NodeGroup, FindsRanksWithBuffersOfDifferentSizes) {
  const auto group = make_thread_group(2);
  std::vector<std::vector<float>> buffers{std::vector<float>(10), std::vector<float>(12)};
  for (std::size_t rank = 0; rank < 2; ++rank) {
    const std::size_t half = buffers[rank].size() / 2;
    group[rank]->start_reduce_scatter(buffers[rank], std::vector<std::size_t>{0, half, 2 * half});
  }
  const auto advance_both = [&] {
    for (int i = 0; i < 3; ++i) {
      for (const auto& rank : group) rank->advance();
    }
  };
  EXPECT_THROW(advance_both(), SystemError);
}

}  // namespace winnow::comm::hierarchical_executor_test
