#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <type_traits>
#include <vector>

#include "app/session.h"
#include "common/json.h"

namespace winnow::app {

struct BufferSizes {
  std::uint64_t least_bytes = 1 << 20;
  std::uint64_t most_bytes = 64 << 20;
  int factor = 4;
  // Increment in bytes to the next buffer size; 0: sizes are multiplied by `factor` instead.
  std::uint64_t step_bytes = 0;

  std::uint64_t after(std::uint64_t bytes) const {
    return step_bytes > 0 ? bytes + step_bytes : bytes * static_cast<std::uint64_t>(factor);
  }
};

struct Rounds {
  int warmup = 1;
  int measured = 10;
};

struct BenchOutput {
  std::filesystem::path network;  // file to write the measured network to; empty: none
  bool json = false;
};

struct AllReduceRequest {
  BufferSizes sizes;
  Rounds rounds;
  std::vector<std::string> types{"f32"};
  std::vector<std::string> schedules;
  comm::ScheduleOptions grain;
  bool bf16 = false;
  bool checksums = false;
  BenchOutput to;
};

// Measures all-reduce for several buffer sizes. Collective.
void bench_allreduce(AllReduceRequest request, Session& session);

}  // namespace winnow::app
