#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace winnow {

// How far long work is. Libraries report; tools decide whether and how to show it.
struct Progress {
  std::uint64_t done = 0;
  std::uint64_t total = 0;  // 0: not known
  std::string note;         // e.g. "epoch 2, loss 0.412"
  // Of work in several steps, which one this is of, and what it counts; empty: what began it says.
  std::string_view step = {};
  std::string_view unit = {};
};

// Called from one thread at a time, often; must be cheap. May be empty.
using ProgressSink = std::function<void(const Progress&)>;

}  // namespace winnow
