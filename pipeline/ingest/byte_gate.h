#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>

namespace winnow::pipeline {

// Counts the bytes that several gates hold now, and the maximum so far. Thread-safe.
class ByteMeter {
 public:
  void add(std::uint64_t bytes) noexcept;
  void subtract(std::uint64_t bytes) noexcept { held_ -= bytes; }
  std::uint64_t peak() const noexcept { return peak_; }

 private:
  std::atomic<std::uint64_t> held_{0};
  std::atomic<std::uint64_t> peak_{0};
};

// Limits the bytes of data in flight. Requests are granted in the order in which they arrive, so
// that a large one is not overtaken for ever. One larger than the whole budget is granted alone.
// Thread-safe.
class ByteGate {
 public:
  ByteGate(std::uint64_t budget_bytes, ByteMeter& meter) : budget_(budget_bytes), meter_(&meter) {}

  // Bytes granted by a gate; the destructor returns them. Must not outlive the gate.
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

    // Returns bytes beyond this number; no effect if it holds less.
    void shrink_to(std::uint64_t bytes) noexcept;
    // Take more bytes without waiting; both do nothing if the credit already holds more.
    void grow_to(std::uint64_t bytes) noexcept;  // may exceed the budget
    // False, without a change, if the bytes do not fit into the budget.
    bool try_grow_to(std::uint64_t bytes) noexcept;
    std::uint64_t bytes() const noexcept { return bytes_; }

   private:
    friend class ByteGate;
    Credit(ByteGate* gate, std::uint64_t bytes) noexcept : gate_(gate), bytes_(bytes) {}

    ByteGate* gate_ = nullptr;
    std::uint64_t bytes_ = 0;
  };

  // Blocks until the bytes are granted. To avoid a deadlock, a thread must not wait here while it
  // holds a credit of this gate, or of a gate whose waiters hold credits of this one.
  Credit acquire(std::uint64_t bytes);
  Credit none() noexcept { return {this, 0}; }  // a credit of 0 bytes, to be grown
  std::uint64_t waiting();                      // number of threads that wait in acquire()

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
