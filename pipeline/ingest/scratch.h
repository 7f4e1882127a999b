#pragma once

#include <cstdint>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "common/image.h"
#include "pipeline/ingest/prints.h"

namespace winnow::pipeline {

// Keeps the memory of images that are no longer needed for reuse, because fresh pages cost more
// than filling them. Limits the total of kept and lent memory. Thread-safe.
class ScratchPool {
 public:
  struct Scratch {
    Image pixels;
    dedup::HashMemory prints;
    std::uint64_t bytes() const noexcept {
      return pixels.pixels.capacity() + prints.gray.pixels.capacity();
    }
  };

  // Memory lent to one thread, until the loan is destroyed. Must not outlive its pool.
  class Loan : public Scratch {
   public:
    explicit Loan(ScratchPool& pool) : Scratch(pool.take()), pool_(pool), counted_(bytes()) {}
    ~Loan() { pool_.give(std::move(*this), counted_); }
    // Releases memory beyond the pool's limit. Call it between two images.
    void settle() { counted_ = pool_.recount(*this, counted_); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;

   private:
    ScratchPool& pool_;
    std::uint64_t counted_;
  };

  explicit ScratchPool(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}

 private:
  Scratch take() {
    const std::lock_guard lock(mutex_);
    if (kept_.empty()) return {};
    Scratch scratch = std::move(kept_.back());
    kept_.pop_back();
    return scratch;
  }
  // Updates the count of bytes for lent memory, and returns the new count.
  std::uint64_t recount(Scratch& scratch, std::uint64_t counted) noexcept {
    const std::lock_guard lock(mutex_);
    bytes_ -= counted;
    if (scratch.bytes() > most_bytes_ - bytes_) scratch = {};
    bytes_ += scratch.bytes();
    return scratch.bytes();
  }
  void give(Scratch scratch, std::uint64_t counted) noexcept {
    const std::uint64_t bytes = recount(scratch, counted);
    const std::lock_guard lock(mutex_);
    try {
      if (bytes > 0) kept_.push_back(std::move(scratch));
    } catch (const std::bad_alloc&) {  // then it is freed
      bytes_ -= bytes;
    }
  }

  const std::uint64_t most_bytes_;
  std::mutex mutex_;
  std::vector<Scratch> kept_;
  std::uint64_t bytes_ = 0;  // bytes of all memory that is kept or lent
};

}  // namespace winnow::pipeline
