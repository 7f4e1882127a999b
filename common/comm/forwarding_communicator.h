#pragma once

#include <exception>

#include "common/comm/communicator.h"

namespace winnow::comm {

// A base class for communicators that change some operations of another one: it forwards all
// operations to the other, which must outlive it and its operations.
class ForwardingCommunicator : public Communicator {
 public:
  int rank() const noexcept override { return of_.rank(); }
  int size() const noexcept override { return of_.size(); }
  int local_rank() const noexcept override { return of_.local_rank(); }
  int local_size() const noexcept override { return of_.local_size(); }
  const Placement& placement() const noexcept override { return of_.placement(); }

  Pending start(const Collective& what, std::span<const Transfer> transfers) override {
    return of_.start(what, transfers);
  }
  Pending start(std::span<float> buffer, const HierarchicalParts& parts, Wire wire) override {
    return of_.start(buffer, parts, wire);
  }
  bool can_share_memory() override { return of_.can_share_memory(); }
  Pending start_all_to_all(std::span<const std::byte> out, std::span<const std::size_t> out_offsets,
                           std::span<std::byte> in, std::span<const std::size_t> in_offsets,
                           const ScheduleOptions& options) override {
    return of_.start_all_to_all(out, out_offsets, in, in_offsets, options);
  }
  void use_checksums(bool use) override { of_.use_checksums(use); }

  void all_reduce(std::span<double> buffer) override { of_.all_reduce(buffer); }
  void all_reduce(std::span<std::uint64_t> buffer) override { of_.all_reduce(buffer); }
  void broadcast(std::span<std::byte> buffer, int root) override { of_.broadcast(buffer, root); }
  void barrier() override { of_.barrier(); }
  Pending start_sum(std::span<double> buffer) override { return of_.start_sum(buffer); }
  void library_all_reduce(const Elements& buffer) override { of_.library_all_reduce(buffer); }
  void all_to_all(std::span<const std::byte> out, std::span<const std::size_t> out_offsets,
                  std::span<std::byte> in, std::span<const std::size_t> in_offsets) override {
    of_.all_to_all(out, out_offsets, in, in_offsets);
  }
  Arrival start_barrier() override { return of_.start_barrier(); }
  double adding_seconds() const noexcept override { return of_.adding_seconds(); }
  [[noreturn]] void abort(int exit_code) noexcept override {
    of_.abort(exit_code);
    std::terminate();  // unreachable
  }

 protected:
  explicit ForwardingCommunicator(Communicator& of) : of_(of) {}

  Communicator& of_;
};

}  // namespace winnow::comm
