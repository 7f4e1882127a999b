#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "app/predict/net.h"
#include "common/stop.h"

namespace winnow::app {

// What is said where predictions are stopped.
inline constexpr const char* kStopped = "stopped; what is done is kept, run the same command again";

// Pictures that a net is shown, a micro-batch at a time.
class Pictures {
 public:
  virtual ~Pictures() = default;

  struct MicroBatch {
    std::size_t count = 0;  // pictures in it; what is behind them is padding
    // Assigns the pixels of these, NHWC, one behind the other. Any number of them may run at once.
    std::function<void(std::span<std::uint8_t> pixels)> fill;
  };
  // The next one; nothing at the end. From one thread at a time.
  virtual std::optional<MicroBatch> next() = 0;
  // Takes what the net says of one, in their order. From one thread at a time, while next() may
  // run.
  virtual void take(const MicroBatch& batch, const Outputs& outputs) = 0;
};

// Shows all of them to the net.
//
// Threads  `workers` of them, the first the caller's: each fills a micro-batch and computes it on a
//          lane that is free. At most a few more than there are wait to be taken.
// Throws   what the pictures throw first, when all workers have ended; StoppedError.
void show_all(Pictures& pictures, const Net& net, Lanes& lanes, int workers,
              const StopRequested& stop);

}  // namespace winnow::app
