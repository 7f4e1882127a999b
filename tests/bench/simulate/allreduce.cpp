// An all-reduce of many ranks under SimGrid's SMPI, where time is simulated. Uses winnow's
// schedules and its state machine for transfers (Channel), or the MPI library's own all-reduce.
//
//   allreduce SCHEDULE COLORS CHILDREN SEGMENT BYTES SECONDS_PER_BYTE  f32; mpi: MPI_Allreduce
//   allreduce SCHEDULE COLORS CHILDREN SEGMENT BYTES check             compares sums, no time
//   allreduce choose RANKS LATENCY MESSAGE BYTES SECONDS_PER_BYTE      choice of choose_schedule()
//
// Prints the simulated seconds until the last rank has its sum.
// LATENCY and MESSAGE are those of NetworkModel, in seconds. A byte takes 80 ps on a cable, as in
// `measure`. Additions cost SECONDS_PER_BYTE, for winnow and MPI alike.
// Timed runs have no data. Buffers are shared ones of SMPI, which it does not copy, and all
// messages of winnow share the same memory.
#include <mpi.h>
#include <smpi/smpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <numeric>
#include <string>
#include <vector>

#include "common/comm/elements.h"
#include "common/comm/mpi/announcements_internal.h"
#include "common/comm/mpi/channel_internal.h"
#include "common/comm/mpi/check_mpi_internal.h"
#include "common/comm/mpi/combine_internal.h"
#include "common/comm/mpi/operation_internal.h"
#include "common/comm/mpi/request_pool_internal.h"
#include "common/comm/schedule/choice.h"
#include "common/comm/schedule/clock.h"
#include "common/comm/schedule/schedule.h"
#include "common/failpoint.h"

namespace {

using namespace winnow::comm;

// Speed of a host, as `measure` writes it into the platform
constexpr double kFlopsPerSecond = 1e9;
constexpr int kTags = 1 << 20;

struct Job {
  std::string schedule;
  ScheduleOptions options{};
  std::size_t count = 0;
  bool check = false;
};

// Shared by all ranks, which run in one address space.
double seconds_per_byte = 0;
std::byte* place_of_messages = nullptr;  // while there is no data
constexpr std::size_t kLeastMessage = 16 << 10;

void charge_addition(std::size_t count) {
  smpi_execute_flops(static_cast<double>(count * sizeof(float)) * seconds_per_byte *
                     kFlopsPerSecond);
}

void charge(std::byte*, const std::byte*, std::size_t count) { charge_addition(count); }
void charge_mpi(void*, void*, int* count, MPI_Datatype*) {
  charge_addition(static_cast<std::size_t>(*count));
}

void all_reduce(const Job& job, std::span<const Transfer> transfers, const Elements& buffer) {
  RequestPool requests;
  Announcements announcements(MPI_COMM_WORLD, kTags, {});  // no announcement is made
  Channel channel(MPI_COMM_WORLD, kTags - 1, kChainsAtOnce, &MPI_Isend, requests, announcements);
  Operation operation(channel);
  operation.out = operation.in = buffer.bytes.data();
  operation.combine = combine_of({.buffer = buffer});
  if (!job.check) operation.combine.apply = &charge;
  operation.transfers = transfers;
  bool complete = transfers.empty();
  while (!complete) {
    channel.start_chains(operation);
    for (const Posted& posted : requests.test()) complete = channel.finish(posted) || complete;
  }
}

std::vector<Transfer> transfers_of(const Job& job) {
  Placement placement;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &placement.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  placement.node_of.resize(static_cast<std::size_t>(ranks));
  std::iota(placement.node_of.begin(), placement.node_of.end(), 0);
  return find_schedule(job.schedule).all_reduce(placement, job.count, job.options);
}

// Integers, whose sums are exact in any order.
int check(const Job& job) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<float> values(job.count);
  for (std::size_t i = 0; i < job.count; ++i)
    values[i] = static_cast<float>((i + static_cast<std::size_t>(rank)) % 17);
  all_reduce(job, transfers_of(job), values);
  int wrong = 0;
  for (std::size_t i = 0; i < job.count; ++i) {
    float expected = 0;
    for (int r = 0; r < ranks; ++r)
      expected += static_cast<float>((i + static_cast<std::size_t>(r)) % 17);
    wrong += values[i] != expected;
  }
  int all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%d\n", all);
  return all != 0;
}

int measure(const Job& job) {
  const std::size_t bytes = job.count * sizeof(float);
  void* const buffer = SMPI_SHARED_MALLOC(bytes);
  void* const result = SMPI_SHARED_MALLOC(bytes);
  MPI_Op sum = MPI_OP_NULL;
  MPI_Op_create(&charge_mpi, /*commute=*/1, &sum);
  const std::vector<Transfer> transfers =
      job.schedule == "mpi" ? std::vector<Transfer>{} : transfers_of(job);
  MPI_Barrier(MPI_COMM_WORLD);
  if (job.schedule != "mpi" && place_of_messages == nullptr)
    place_of_messages = static_cast<std::byte*>(result);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  if (job.schedule == "mpi") {
    MPI_Allreduce(buffer, result, static_cast<int>(job.count), MPI_FLOAT, sum, MPI_COMM_WORLD);
  } else {
    all_reduce(job, transfers, {{static_cast<std::byte*>(buffer), bytes}, ElementType::kF32});
  }
  const double seconds = MPI_Wtime() - begin;
  double longest = 0;
  MPI_Allreduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  place_of_messages = nullptr;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::printf("%.9g\n", longest);
  MPI_Op_free(&sum);
  SMPI_SHARED_FREE(result);
  SMPI_SHARED_FREE(buffer);
  return 0;
}

int choose(int ranks, double latency_s, double message_s, std::size_t bytes) {
  const NetworkModel network{
      .between = {.latency_s = latency_s, .message_s = message_s, .seconds_per_byte = 80e-12},
      .add_seconds_per_byte = seconds_per_byte};
  std::vector<int> node_of(static_cast<std::size_t>(ranks));
  std::iota(node_of.begin(), node_of.end(), 0);
  const AllReduceShape shape{.node_of = node_of, .count = bytes / sizeof(float)};
  const ScheduleChoice choice = choose_schedule(shape, network);
  std::printf("%s %d %d %zu %.9g %.9g\n", std::string(choice.schedule->name).c_str(),
              choice.options.colors, choice.options.children, choice.options.segment_elements,
              choice.seconds, least_seconds(shape, network));
  return 0;
}

}  // namespace

// No failure is injected here.
const bool winnow::failpoint::enabled = false;
void winnow::failpoint::pass_peer(std::string_view, std::string_view, int) {}

// Messages without data need no memory. A thousand ranks would have dozens of gigabytes in flight.
void* operator new(std::size_t bytes) {
  if (place_of_messages != nullptr && bytes >= kLeastMessage) return place_of_messages;
  if (void* const memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  if (memory != place_of_messages) std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int failed = 2;
  if (argc == 7 && argv[1] == std::string("choose")) {
    seconds_per_byte = std::atof(argv[6]);
    failed = choose(std::atoi(argv[2]), std::atof(argv[3]), std::atof(argv[4]),
                    static_cast<std::size_t>(std::atoll(argv[5])));
  } else if (argc == 7) {
    const std::string last = argv[6];
    const Job job{.schedule = argv[1],
                  .options = {.colors = std::atoi(argv[2]),
                              .children = std::atoi(argv[3]),
                              .segment_elements = static_cast<std::size_t>(std::atoll(argv[4]))},
                  .count = static_cast<std::size_t>(std::atoll(argv[5])) / sizeof(float),
                  .check = last == "check"};
    seconds_per_byte = job.check ? 0 : std::atof(argv[6]);
    failed = job.check ? check(job) : measure(job);
  }
  MPI_Finalize();
  return failed;
}
