#pragma once

#include <string>
#include <vector>

#include "app/session.h"
#include "common/image.h"

namespace winnow::app {

struct HashBenchRequest {
  std::vector<std::string> hashes{"phash", "dhash"};
  int width_px = 500;
  int height_px = 375;
  double seconds = 1;
  int rounds = 3;
  bool json = false;
};

void bench_hash(const HashBenchRequest& request, const Session& session);

}  // namespace winnow::app
