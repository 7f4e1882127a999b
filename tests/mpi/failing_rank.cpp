// The effect of one rank's failure on the others. Run under local_mpirun with the name of a
// failure. In every case all ranks end soon, and the launcher's exit status is not 0.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "common/comm/mpi/mpi.h"
#include "common/error.h"
#include "tests/mpi/start.h"

namespace {

using winnow::comm::Communicator;

// Every rank has `bytes` for each other rank, and room for `room` from each.
struct Even {
  Even(const Communicator& comm, std::size_t bytes, std::size_t room) {
    const auto ranks = static_cast<std::size_t>(comm.size());
    const auto me = static_cast<std::size_t>(comm.rank());
    for (std::size_t r = 0; r < ranks; ++r) {
      out_offsets.push_back(out_offsets.back() + (r == me ? 0 : bytes));
      in_offsets.push_back(in_offsets.back() + (r == me ? 0 : room));
    }
    out.resize(out_offsets.back());
    in.resize(in_offsets.back());
  }
  winnow::comm::Pending start(Communicator& comm, std::size_t segment_elements) {
    return comm.start_all_to_all(out, out_offsets, in, in_offsets,
                                 {.segment_elements = segment_elements});
  }
  std::vector<std::size_t> out_offsets{0};
  std::vector<std::size_t> in_offsets{0};
  std::vector<std::byte> out;
  std::vector<std::byte> in;
};

// All-reduces in which the last rank disagrees with the others. Each ends with an error that names
// both sides, not with a wrong sum.
void differ(std::string_view how, Communicator& comm) {
  using winnow::comm::Reduction;
  const bool last = comm.rank() == comm.size() - 1;
  std::vector<float> floats(how == "unequal" && last ? 3000 : 2000);
  std::vector<std::int32_t> integers(2000);
  std::vector<float> others(1000);
  const auto sum = [&](auto& buffer, const char* schedule = "ring", std::size_t segment = 32'768,
                       Reduction reduction = Reduction::kSum) {
    return winnow::comm::start(comm, buffer, schedule, {.segment_elements = segment}, reduction);
  };
  for (int i = 0; i < 3; ++i) sum(others).wait();  // operations 1 to 3 succeed
  if (how == "type" && last) {
    sum(integers).wait();
  } else if (how == "reduction") {
    sum(integers, "ring", 32'768, last ? Reduction::kMax : Reduction::kSum).wait();
  } else if (how == "wire") {
    const auto transfers =
        winnow::comm::find_schedule("ring").all_reduce(comm.placement(), floats.size(), {});
    comm.start_all_reduce(floats, transfers,
                          last ? winnow::comm::Wire::kBF16 : winnow::comm::Wire::kF32)
        .wait();
  } else if (how == "order") {
    winnow::comm::Pending first = sum(last ? others : floats);
    winnow::comm::Pending second = sum(last ? floats : others);
    first.wait();
    second.wait();
  } else if (how == "schedule") {
    sum(floats, last ? "recursive_doubling" : "ring").wait();
  } else if (how == "grain") {
    sum(floats, "multicolor", last ? 100 : 200).wait();
  } else if (how == "empty" && last) {
    floats.clear();
    sum(floats).wait();
    comm.barrier();  // never returns
  } else if (how == "skipped" && last) {
    sum(others).wait();
  } else {
    sum(floats).wait();
    if (how == "skipped") sum(others).wait();
  }
}

void sum_in_node(Communicator& comm, std::size_t count) {
  std::vector<float> buffer(count);
  const auto parts = winnow::comm::hierarchical_parts(comm.placement(), count, {});
  comm.start_all_reduce(buffer, parts).wait();
}

void fail(std::string_view how, Communicator& comm) {
  const bool last = comm.rank() == comm.size() - 1;
  comm.barrier();
  if (how == "abort") {
    if (last) comm.abort(7);
    comm.barrier();  // never returns
  } else if (how == "unequal_hierarchical") {
    sum_in_node(comm, last ? 3000 : 2000);
  } else if (how == "throw_in_hierarchical") {
    sum_in_node(comm, 1000);
    if (last) throw std::runtime_error("thrown on the last rank");
    sum_in_node(comm, 1000);
  } else if (how == "hierarchical") {
    // Succeeds, unless WINNOW_FAILPOINTS makes it fail.
    sum_in_node(comm, 1'000'000);
  } else if (how == "parts") {
    // Without a check, ranks would wait forever for more messages than expected.
    Even(comm, last ? 400'000 : 4000, 4000).start(comm, 100).wait();
  } else if (how == "segments") {
    Even(comm, 4000, 4000).start(comm, last ? 100 : 200).wait();
  } else if (how == "throw_in_exchange") {
    // The other ranks have one in flight that the last rank never starts.
    Even first(comm, 4'000'000, 4'000'000);
    Even second(comm, 4'000'000, 4'000'000);
    const winnow::comm::Pending of_first = first.start(comm, 1000);
    if (last) throw std::runtime_error("thrown on the last rank");
    second.start(comm, 1000).wait();
  } else if (how == "exchange") {
    // Succeeds, unless WINNOW_FAILPOINTS makes it fail.
    Even(comm, 400'000, 400'000).start(comm, 1000).wait();
  } else if (how == "throw") {
    std::vector<float> buffer(100'000);
    if (last) throw std::runtime_error("thrown on the last rank");
    winnow::comm::start(comm, buffer, "multicolor", {}).wait();
  } else {
    differ(how, comm);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    const std::unique_ptr<Communicator> comm = winnow::comm::make_mpi();
    fail(argv[1], *comm);
  } catch (const winnow::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 9;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 8;
  }
  return 0;
}
