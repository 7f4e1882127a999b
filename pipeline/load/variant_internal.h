#pragma once

#include "pipeline/load/loader.h"
#include "pipeline/load/order.h"
#include "pipeline/store/shard_format.h"

namespace winnow::pipeline {

// Returns the function that picks which stored variant of a sample a request uses.
inline PickVariant variant_of(const Request& request, std::uint64_t seed) {
  return [request, seed](int variants) {
    return variant_at(seed, request.epoch, request.id, variants);
  };
}

}  // namespace winnow::pipeline
