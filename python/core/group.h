#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "common/comm/communicator.h"

namespace winnow::python {

// The ranks of torch.distributed or of MPI as a Communicator, limited to what machines that share a
// cache need: sums and maxima of a few numbers, broadcasts, and exchanges of bytes in the
// background. Other operations throw Error.
//
// group    a Python winnow.group.Group, which does the work
// Threads  Any. Each takes the GIL (the interpreter's lock) briefly, so a thread that waits for
//          another one must not hold it. After the interpreter ends, no thread takes the GIL any
//          more: new operations throw, and a running wait() never returns, because its buffers are
//          in use until the end.
// Errors   SystemError if the group fails
class Group final : public comm::Communicator {
 public:
  explicit Group(nanobind::object group);
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group() override;

  int rank() const noexcept override { return placement_.rank; }
  int size() const noexcept override { return placement_.ranks(); }
  int local_rank() const noexcept override;
  int local_size() const noexcept override;
  const comm::Placement& placement() const noexcept override { return placement_; }

  comm::Pending start(const comm::Collective& what,
                      std::span<const comm::Transfer> transfers) override;
  comm::Pending start(std::span<float> buffer, const comm::HierarchicalParts& parts,
                      comm::Wire wire) override;
  bool can_share_memory() override { return false; }
  comm::Pending start_all_to_all(std::span<const std::byte> out,
                                 std::span<const std::size_t> out_offsets, std::span<std::byte> in,
                                 std::span<const std::size_t> in_offsets,
                                 const comm::ScheduleOptions& options) override;
  void use_checksums(bool use) override;
  void all_reduce(std::span<double> buffer) override;
  void all_reduce(std::span<std::uint64_t> buffer) override;
  void broadcast(std::span<std::byte> buffer, int root) override;
  void barrier() override;
  void library_all_reduce(const comm::Elements& buffer) override;
  void all_to_all(std::span<const std::byte> out, std::span<const std::size_t> out_offsets,
                  std::span<std::byte> in, std::span<const std::size_t> in_offsets) override;
  Arrival start_barrier() override;
  double adding_seconds() const noexcept override { return 0; }
  [[noreturn]] void abort(int exit_code) noexcept override;

 private:
  PyObject* group_;
  const std::string name_;
  comm::Placement placement_;
};

}  // namespace winnow::python
