#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>

namespace winnow::pipeline {

// Bytes held now and the most ever held, over several gates. Safe from many threads.
class ByteMeter {
 public:
  void add(std::uint64_t bytes) noexcept;
  void subtract(std::uint64_t bytes) noexcept { held_ -= bytes; }
  std::uint64_t peak() const noexcept { return peak_; }

 private:
  std::atomic<std::uint64_t> held_{0};
  std::atomic<std::uint64_t> peak_{0};
};

// Lets through who wants to hold bytes while they fit a budget, in the order they came, so that a
// large request is not passed by small ones for ever. One larger than the whole budget goes through
// alone. Safe from many threads.
class ByteGate {
 public:
  ByteGate(std::uint64_t budget_bytes, ByteMeter& meter) : budget_(budget_bytes), meter_(&meter) {}

  // Bytes let through; given back when it ends. Must not outlive its gate.
  class Credit {
   public:
    Credit() noexcept = default;
    Credit(Credit&& other) noexcept
        : gate_(std::exchange(other.gate_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    Credit& operator=(Credit other) noexcept {
      std::swap(gate_, other.gate_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Credit() { shrink_to(0); }

    void shrink_to(std::uint64_t bytes) noexcept;  // no effect when it holds less
    // Both do nothing when it holds more, and neither waits.
    void grow_to(std::uint64_t bytes) noexcept;      // past the budget if need be
    bool try_grow_to(std::uint64_t bytes) noexcept;  // false, unchanged, where it does not fit
    std::uint64_t bytes() const noexcept { return bytes_; }

   private:
    friend class ByteGate;
    Credit(ByteGate* gate, std::uint64_t bytes) noexcept : gate_(gate), bytes_(bytes) {}

    ByteGate* gate_ = nullptr;
    std::uint64_t bytes_ = 0;
  };

  // Waits. Nobody may wait here while holding a credit of this gate, nor while holding one of a
  // gate whose waiters hold credits of this one: then whoever holds always gets on and gives back.
  Credit acquire(std::uint64_t bytes);
  Credit none() noexcept { return {this, 0}; }  // to grow
  std::uint64_t waiting();                      // in acquire(), now

 private:
  bool fits(std::uint64_t bytes) const noexcept {
    return used_ == 0 || (bytes <= budget_ && used_ <= budget_ - bytes);
  }
  void take(std::uint64_t bytes) noexcept {
    used_ += bytes;
    meter_->add(bytes);
  }

  const std::uint64_t budget_;
  ByteMeter* meter_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t used_ = 0;
  std::uint64_t next_ticket_ = 0;
  std::uint64_t serving_ = 0;
};

}  // namespace winnow::pipeline
