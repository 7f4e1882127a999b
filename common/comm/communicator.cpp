#include "common/comm/communicator.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "common/comm/exchange.h"
#include "common/error.h"

namespace winnow::comm {

namespace {

class SingleCommunicator final : public Communicator {
 public:
  int rank() const noexcept override { return 0; }
  int size() const noexcept override { return 1; }
  int local_rank() const noexcept override { return 0; }
  int local_size() const noexcept override { return 1; }
  const Placement& placement() const noexcept override { return placement_; }

  Pending start(const Collective&, std::span<const Transfer>) override { return {}; }
  Pending start(std::span<float>, const HierarchicalParts&, Wire) override { return {}; }
  bool can_share_memory() override { return true; }
  Pending start_all_to_all(std::span<const std::byte> out, std::span<const std::size_t> out_offsets,
                           std::span<std::byte> in, std::span<const std::size_t> in_offsets,
                           const ScheduleOptions& options) override {
    const Exchange exchange{out, out_offsets, in, in_offsets};
    plan_exchange(0, 1, exchange, options);  // only for its checks; there is no transfer
    copy_part_kept(0, exchange);
    return {};
  }
  void all_reduce(std::span<double>) override {}
  void all_reduce(std::span<std::uint64_t>) override {}
  void use_checksums(bool) override {}
  void library_all_reduce(const Elements&) override {}
  void broadcast(std::span<std::byte>, int root) override {
    if (root != 0) {
      throw Error("a broadcast was requested from rank " + std::to_string(root) +
                  ", but there is only rank 0");
    }
  }
  void barrier() override {}
  Arrival start_barrier() override {
    std::promise<std::chrono::steady_clock::time_point> at_once;
    at_once.set_value(std::chrono::steady_clock::now());
    return at_once.get_future();
  }
  double adding_seconds() const noexcept override { return 0; }
  void all_to_all(std::span<const std::byte> out, std::span<const std::size_t> out_offsets,
                  std::span<std::byte> in, std::span<const std::size_t> in_offsets) override {
    start_all_to_all(out, out_offsets, in, in_offsets, {}).wait();
  }
  [[noreturn]] void abort(int exit_code) noexcept override {
    std::fflush(nullptr);
    std::_Exit(exit_code);
  }

 private:
  const Placement placement_{.rank = 0, .node_of = {0}};
};

}  // namespace

void require_equal_sizes(std::size_t in, std::size_t out) {
  if (in == out) return;
  throw Error("an all-reduce from a buffer of " + std::to_string(in) + " elements into one of " +
              std::to_string(out) + " was asked for; the two must be equally long");
}

Pending::~Pending() {
  try {
    wait();
  } catch (...) {
    // Errors are only reported by wait(); the buffer is free either way.
  }
}

std::unique_ptr<Communicator> make_single() { return std::make_unique<SingleCommunicator>(); }

std::string broadcast(Communicator& comm, std::string text, int root) {
  text.resize(broadcast(comm, text.size(), root));
  comm.broadcast(std::as_writable_bytes(std::span(text)), root);
  return text;
}

std::string broadcast_text(Communicator& comm, const std::string& text) {
  return broadcast(comm, comm.rank() == 0 ? text : std::string(), 0);
}

std::vector<std::uint64_t> all_gather(Communicator& comm, std::span<const std::uint64_t> row) {
  std::vector<std::uint64_t> all(row.size() * static_cast<std::size_t>(comm.size()));
  const std::size_t mine = row.size() * static_cast<std::size_t>(comm.rank());
  std::ranges::copy(row, all.begin() + static_cast<std::ptrdiff_t>(mine));
  comm.all_reduce(all);  // the other ranks have zeros here
  return all;
}

std::vector<std::string> all_gather(Communicator& comm, const std::string& text) {
  const std::vector<std::uint64_t> sizes = all_gather(comm, std::array{std::uint64_t{text.size()}});
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  std::vector<std::uint64_t> row(std::ranges::max(sizes) / kWord + 1);
  std::memcpy(row.data(), text.data(), text.size());
  const std::vector<std::uint64_t> rows = all_gather(comm, row);
  std::vector<std::string> all;
  for (std::size_t rank = 0; rank < sizes.size(); ++rank) {
    all.emplace_back(sizes[rank], '\0');
    std::memcpy(all.back().data(), &rows[rank * row.size()], sizes[rank]);
  }
  return all;
}

}  // namespace winnow::comm
