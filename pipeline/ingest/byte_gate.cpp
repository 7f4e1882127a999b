#include "pipeline/ingest/byte_gate.h"

namespace winnow::pipeline {

void ByteMeter::add(std::uint64_t bytes) noexcept {
  const std::uint64_t held = held_ += bytes;
  std::uint64_t peak = peak_;
  while (peak < held && !peak_.compare_exchange_weak(peak, held)) {
  }
}

void ByteGate::Credit::shrink_to(std::uint64_t bytes) noexcept {
  if (bytes_ <= bytes || gate_ == nullptr) return;
  {
    const std::lock_guard lock(gate_->mutex_);
    gate_->used_ -= bytes_ - bytes;
    gate_->meter_->subtract(bytes_ - bytes);
  }
  gate_->changed_.notify_all();
  bytes_ = bytes;
}

void ByteGate::Credit::grow_to(std::uint64_t bytes) noexcept {
  if (bytes <= bytes_ || gate_ == nullptr) return;
  const std::lock_guard lock(gate_->mutex_);
  gate_->take(bytes - bytes_);
  bytes_ = bytes;
}

bool ByteGate::Credit::try_grow_to(std::uint64_t bytes) noexcept {
  if (bytes <= bytes_) return true;
  const std::lock_guard lock(gate_->mutex_);
  if (gate_->serving_ != gate_->next_ticket_ || !gate_->fits(bytes - bytes_)) return false;
  gate_->take(bytes - bytes_);
  bytes_ = bytes;
  return true;
}

ByteGate::Credit ByteGate::acquire(std::uint64_t bytes) {
  {
    std::unique_lock lock(mutex_);
    const std::uint64_t ticket = next_ticket_++;
    changed_.wait(lock, [&] { return serving_ == ticket && fits(bytes); });
    ++serving_;
    take(bytes);
  }
  changed_.notify_all();  // the next one may fit as well
  return {this, bytes};
}

std::uint64_t ByteGate::waiting() {
  const std::lock_guard lock(mutex_);
  return next_ticket_ - serving_;
}

}  // namespace winnow::pipeline
