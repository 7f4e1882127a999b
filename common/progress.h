#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace winnow {

// Progress of long work. Libraries report it to a sink; commands decide whether and how to show it.
struct Progress {
  std::uint64_t done = 0;
  std::uint64_t total = 0;  // 0: unknown
  std::string note;         // e.g. "epoch 2, loss 0.412"
  // For work in several steps: name of the current step, and the noun for what it counts. Empty: as
  // at the beginning of the work.
  std::string_view step = {};
  std::string_view unit = {};
};

// Receives progress. Called often, by one thread at a time; must be cheap. May be empty.
using ProgressSink = std::function<void(const Progress&)>;

}  // namespace winnow
