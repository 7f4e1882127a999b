#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "train/backend/cudnn/device.h"

namespace winnow::train::cudnn {

// A card made of host memory, as unforgiving as a real one:
// - work given to a stream runs only when somebody waits for it;
// - memory holds NaN when allocated, and again when freed;
// - workspaces are overwritten;
// - memory is limited.

// The health of a card. From its `works_until`-th piece of work on, everything fails.
struct HostHealth {
  std::size_t works_until = static_cast<std::size_t>(-1);
  std::size_t done = 0;
};

// The order in which blocks of a kernel run, and the threads of a block within each phase.
// kShuffled also limits a launch to three blocks.
enum class ThreadOrder : std::uint8_t { kAscending, kDescending, kShuffled };

class HostStream final : public Stream {
 public:
  explicit HostStream(std::shared_ptr<HostHealth> health = std::make_shared<HostHealth>(),
                      std::shared_ptr<TrafficCounter> traffic = std::make_shared<TrafficCounter>())
      : Stream(std::move(traffic)), health_(std::move(health)) {}
  explicit HostStream(ThreadOrder order) : HostStream() { order_ = order; }
  ~HostStream() override = default;
  ThreadOrder order() const noexcept { return order_; }
  void push(std::function<void()> work) { queue_.push_back(std::move(work)); }

  void record(Event& event) override;
  void wait(const Event& event) override;
  void synchronize() override { run_until(given()); }

  // Number of pieces of work given so far, finished ones included.
  std::size_t given() const { return done_ + queue_.size(); }
  void run_until(std::size_t count);

 private:
  void copy(void* to, const void* from, std::size_t bytes) override;

  std::shared_ptr<HostHealth> health_;
  std::deque<std::function<void()>> queue_;
  std::size_t done_ = 0;
  ThreadOrder order_ = ThreadOrder::kAscending;
};

struct HostDeviceOptions {
  std::size_t memory_bytes = std::size_t{1} << 40;
  bool has_libraries = true;           // else own loops replace cuDNN and cuBLAS
  bool has_mixed_convolutions = true;  // with activations in bf16 or f16 and results in f32
  bool rounds_to_tf32 = true;          // rounds factors as tensor cores do, if a product may
  // Engines for convolutions, the best first; all give the same numbers.
  std::vector<std::string> engines = {"engine 1", "engine 2"};
};

struct HostDeviceUse {
  std::size_t bytes = 0;        // device memory allocated now
  std::size_t most_bytes = 0;   // its peak
  std::size_t allocations = 0;  // all allocations so far, of host memory too
};

class HostDevice final : public Device {
 public:
  explicit HostDevice(const HostDeviceOptions& options = {});
  ~HostDevice() override;

  const Card& card() const noexcept override { return card_; }
  Memory allocate(std::size_t bytes) override;
  Memory allocate_host(std::size_t bytes) override;
  std::size_t free_bytes() const override { return options_.memory_bytes - use_->bytes; }
  Traffic traffic() const noexcept override { return traffic_->now(); }
  std::unique_ptr<Stream> make_stream() override;
  std::unique_ptr<Event> make_event() override;
  const kernels::Table& kernels() const noexcept override;
  std::unique_ptr<Product> make_convolution(const ConvolutionDescription& description,
                                            const std::string* plan) override;
  std::unique_ptr<Product> make_matmul(const MatmulDescription& description) override;

  const HostDeviceUse& use() const noexcept { return *use_; }
  HostHealth& health() noexcept { return *health_; }

 private:
  const HostDeviceOptions options_;
  Card card_;
  std::shared_ptr<HostDeviceUse> use_;  // shared with allocated memory
  std::shared_ptr<HostHealth> health_;  // shared with all streams
  std::shared_ptr<TrafficCounter> traffic_ = std::make_shared<TrafficCounter>();
};

}  // namespace winnow::train::cudnn
