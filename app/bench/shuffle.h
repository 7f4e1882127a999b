#pragma once

#include <filesystem>

#include "app/session.h"
#include "pipeline/load/partial_shuffle.h"
#include "pipeline/store/cache.h"

namespace winnow::app {

struct ShuffleBenchRequest {
  std::filesystem::path cache;
  std::string selection;
  pipeline::ShuffleOptions shuffle;
  std::uint64_t batch = 128;
  std::uint64_t seed = 1;
  bool json = false;
};

void bench_shuffle(const ShuffleBenchRequest& request, bool one_fraction, const Session& session);

}  // namespace winnow::app
