#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "app/predict/net.h"
#include "common/stop.h"

namespace winnow::app {

// The message for the user when a prediction is stopped.
inline constexpr const char* kStopped = "stopped; what is done is kept, run the same command again";

// A source of pictures in micro-batches (as many images as the net takes at once), and the receiver
// of their results.
class Pictures {
 public:
  virtual ~Pictures() = default;

  struct MicroBatch {
    std::size_t count = 0;  // number of pictures; the rest of the micro-batch is padding
    // Writes the pixels of the micro-batch: NHWC. Several such calls may run concurrently.
    std::function<void(std::span<std::uint8_t> pixels)> fill;
  };
  // The next micro-batch; nullopt at the end. Called by one thread at a time.
  virtual std::optional<MicroBatch> next() = 0;
  // Receives outputs in the order of next(). Called by one thread at a time, possibly during
  // next().
  virtual void take(const MicroBatch& batch, const Outputs& outputs) = 0;
};

// Predicts all pictures with the net.
//
// Threads  `workers`, including the caller's. Each fills a micro-batch and computes it on a free
//          lane. At most four results per worker wait for take().
// Throws   the first exception of the pictures, after all workers have ended; StoppedError
void show_all(Pictures& pictures, const Net& net, Lanes& lanes, int workers,
              const StopRequested& stop);

}  // namespace winnow::app
