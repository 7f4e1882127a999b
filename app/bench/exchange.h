#pragma once

#include <future>

#include "app/session.h"
#include "common/comm/schedule/all_to_all.h"

namespace winnow::app {

inline constexpr std::size_t kElementBytes = 4;

struct ExchangeRequest {
  std::uint64_t bytes = 64 << 20;
  std::uint64_t segment_bytes = comm::kExchangeOptions.segment_elements * kElementBytes;
  std::uint64_t gradient_bytes = 0;
  int rounds = 5;
  bool json = false;
};

// Measures the exchange of samples between ranks. Collective.
void bench_alltoall(const ExchangeRequest& request, Session& session);

}  // namespace winnow::app
