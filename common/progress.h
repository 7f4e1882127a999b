#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace winnow {

// Progress of long work. Libraries report it; tools decide whether and how to show it.
struct Progress {
  std::uint64_t done = 0;
  std::uint64_t total = 0;  // 0: unknown
  std::string note;         // e.g. "epoch 2, loss 0.412"
  // For work in several steps: name of the current step, and what it counts; empty: as at the
  // beginning.
  std::string_view step = {};
  std::string_view unit = {};
};

// Called often, from one thread at a time; must be cheap. May be empty.
using ProgressSink = std::function<void(const Progress&)>;

}  // namespace winnow
