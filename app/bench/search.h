#pragma once

#include "app/session.h"
#include "dedup/search/scan.h"

namespace winnow::app {

struct SearchBenchRequest {
  std::uint64_t count = 1'000'000;
  int bits = 64;
  int radius = 8;
  int rounds = 3;
  bool json = false;
};

void bench_search(const SearchBenchRequest& request, const Session& session);

}  // namespace winnow::app
