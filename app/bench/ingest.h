#pragma once

#include <filesystem>

#include "app/bench/held.h"
#include "app/session.h"

namespace winnow::app {

struct IngestBenchRequest {
  HeldRequest held;
  std::filesystem::path out;
};

void bench_ingest(const IngestBenchRequest& request, const Session& session);

}  // namespace winnow::app
