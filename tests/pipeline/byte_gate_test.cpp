#include "pipeline/ingest/byte_gate.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace winnow::pipeline::byte_gate_test {

using namespace std::chrono_literals;

TEST(ByteGate, GivesBackWhatItLetThrough) {
  ByteMeter meter;
  ByteGate gate(100, meter);
  {
    ByteGate::Credit a = gate.acquire(60);
    EXPECT_EQ(a.bytes(), 60u);
    ByteGate::Credit b = gate.none();
    EXPECT_FALSE(b.try_grow_to(41));
    EXPECT_EQ(b.bytes(), 0u);
    EXPECT_TRUE(b.try_grow_to(40));
    a.shrink_to(10);
    EXPECT_TRUE(b.try_grow_to(90));
    b = std::move(a);
    EXPECT_EQ(b.bytes(), 10u);
  }
  EXPECT_TRUE(gate.none().try_grow_to(100));
  EXPECT_EQ(meter.peak(), 100u);
}

TEST(ByteGate, LargerThanTheBudgetGoesAlone) {
  ByteMeter meter;
  ByteGate gate(100, meter);
  ByteGate::Credit large = gate.acquire(500);
  EXPECT_FALSE(gate.none().try_grow_to(1));
  large.shrink_to(99);
  EXPECT_TRUE(gate.none().try_grow_to(1));
  EXPECT_FALSE(gate.none().try_grow_to(500));
  large.grow_to(700);  // never waits
  EXPECT_EQ(meter.peak(), 700u);
}

TEST(ByteGate, ServesInOrder) {
  ByteMeter meter;
  ByteGate gate(100, meter);
  std::mutex mutex;
  std::vector<std::uint64_t> through;  // the requests in the order they were granted
  const auto pass = [&](std::uint64_t bytes) {
    const auto credit = gate.acquire(bytes);
    const std::lock_guard lock(mutex);
    through.push_back(bytes);
  };
  // Returns when `count` requests wait, or when one has overtaken the others.
  const auto wait_for_line = [&](std::uint64_t count) {
    for (;; std::this_thread::sleep_for(1ms)) {
      const std::lock_guard lock(mutex);
      if (gate.waiting() >= count || !through.empty()) return;
    }
  };
  ByteGate::Credit first = gate.acquire(60);
  EXPECT_EQ(gate.waiting(), 0U);
  std::thread large(pass, 95);  // does not fit besides the first
  wait_for_line(1);
  EXPECT_FALSE(gate.none().try_grow_to(1));
  std::thread small(pass, 10);  // would fit now, but came later
  wait_for_line(2);
  {
    const std::lock_guard lock(mutex);
    EXPECT_TRUE(through.empty()) << "there is no room yet";
  }
  first.shrink_to(0);
  large.join();
  small.join();
  EXPECT_EQ(through, (std::vector<std::uint64_t>{95, 10}));
  EXPECT_EQ(gate.waiting(), 0U);
}

// Like an ingest: threads hold credit at one gate and wait at the next, with requests of all sizes.
// A deadlock would never end. Credits stay within the budget, except for a request that is alone.
TEST(ByteGate, ManyThreadsKeepWithinTheBudget) {
  ByteMeter outer_meter;
  ByteMeter inner_meter;
  ByteGate outer(1000, outer_meter);
  ByteGate inner(1000, inner_meter);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 8; ++t) {
    threads.emplace_back([&outer, &inner, t] {
      std::uint64_t state = t + 1;
      for (int i = 0; i < 2000; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const auto held = outer.acquire((state >> 33) % 600);
        auto more = inner.acquire((state >> 43) % 900);
        more.shrink_to(more.bytes() / 2);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(outer_meter.peak(), 1000u);
  EXPECT_LE(inner_meter.peak(), 1000u);
  EXPECT_GT(inner_meter.peak(), 500u);
  EXPECT_TRUE(outer.none().try_grow_to(1000));
  EXPECT_TRUE(inner.none().try_grow_to(1000));
}

}  // namespace winnow::pipeline::byte_gate_test
