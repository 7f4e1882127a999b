// State of messages in progress after an engine failed, or if its rank is late. Run under
// local_mpirun with the name of a case. Rank 0 has an engine that fails; rank 1 calls MPI itself,
// and sends late. What a network card or another process would do at any time, write a message into
// the buffer of a receive that is posted, happens here while rank 0 calls MPI.

#include <mpi.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "common/comm/mpi/progress_engine_internal.h"
#include "common/error.h"

namespace {

using namespace std::chrono_literals;
using winnow::comm::Channels;
using winnow::comm::Patience;
using winnow::comm::ProgressEngine;
using winnow::comm::Transfer;
using Buffer = std::vector<std::int32_t>;

constexpr int kTagLimit = 1000;
constexpr int kFirstTag = 0;             // the engine's, of a communicator
constexpr int kMarkTag = kTagLimit + 1;  // none of the engine's
constexpr std::int32_t kSent = 5;
constexpr std::int32_t kOthers = 7;                   // content of the memory's next owner
constexpr std::size_t kSmall = 200;                   // sent without asking the receiver
constexpr std::size_t kLarge = std::size_t{1} << 22;  // in many pieces, when it is being received

struct World {
  int rank = 0;
  Channels channels{};
  MPI_Comm talk{};                     // communicator of the test
  std::atomic<bool>* go_on = nullptr;  // in memory that the ranks share
};

void tell(const World& world, int peer) { MPI_Send(nullptr, 0, MPI_BYTE, peer, 0, world.talk); }
void hear(const World& world, int peer) {
  MPI_Recv(nullptr, 0, MPI_BYTE, peer, 0, world.talk, MPI_STATUS_IGNORE);
}

// Without a call of MPI, which would let it get on with what is under way.
void wait_to_go_on(const World& world) {
  while (!*world.go_on) std::this_thread::sleep_for(1ms);
}

// A message that comes after all that was sent to rank 0 before: where it has been received, MPI
// has done with those what it is going to.
void send_mark(MPI_Comm comm) { MPI_Send(nullptr, 0, MPI_BYTE, 0, kMarkTag, comm); }
void await_mark(MPI_Comm comm, int peer) {
  MPI_Recv(nullptr, 0, MPI_BYTE, peer, kMarkTag, comm, MPI_STATUS_IGNORE);
}

std::shared_future<void> receive(ProgressEngine& engine, Buffer& buffer,
                                 const std::vector<Transfer>& transfers) {
  return engine.submit({.buffer = buffer}, transfers);
}

void break_engine(ProgressEngine& engine) {
  engine.submit([](MPI_Comm) -> MPI_Request { throw winnow::SystemError("broken on purpose"); },
                winnow::comm::CollectiveMemory::kOwned);
}

std::vector<Transfer> copy_from_rank_1(std::size_t count) {
  return {{Transfer::Kind::kReceiveCopy, 1, 0, 0, 0, count}};
}
std::vector<Transfer> copy_from_rank_0() {
  return {{Transfer::Kind::kReceiveCopy, 0, 0, 0, 0, kSmall}};
}

// The operation is over, with an error; its buffer is somebody else's from now on.
bool throws(const std::shared_future<void>& done) {
  try {
    done.get();
    return false;
  } catch (const winnow::SystemError&) {
    return true;
  }
}

bool is_all_of_others(const Buffer& buffer) {
  return std::ranges::count(buffer, kOthers) == std::ssize(buffer);
}

void wait_until_broken(const ProgressEngine& engine) {
  while (!engine.broken()) std::this_thread::sleep_for(1ms);
}

// For another rank to be run, however busy the machine.
constexpr Patience kLongPatience{.receives = 10min};

void say(std::string_view word) {
  std::printf("%.*s\n", static_cast<int>(word.size()), word.data());
}

// Rank 1 sends when rank 0 has been told of the failure.
bool late(const World& world) {
  if (world.rank == 1) {
    hear(world, 0);
    const Buffer sent(kSmall, kSent);
    MPI_Request request = MPI_REQUEST_NULL;  // nobody has to receive it
    MPI_Isend(sent.data(), kSmall, MPI_INT32_T, 0, kFirstTag, world.channels.gradients, &request);
    send_mark(world.channels.gradients);
    hear(world, 0);
    return true;
  }
  ProgressEngine engine(world.channels, kTagLimit);
  Buffer buffer(kSmall);
  const std::vector<Transfer> transfers = copy_from_rank_1(kSmall);
  const auto done = receive(engine, buffer, transfers);
  break_engine(engine);
  if (!throws(done)) return false;
  std::ranges::fill(buffer, kOthers);
  tell(world, 1);
  await_mark(world.channels.gradients, 1);
  if (!is_all_of_others(buffer)) return false;
  tell(world, 1);
  say("untouched");
  return true;
}

// Rank 1 has begun to send, and goes on when rank 0's engine has failed.
bool under_way(const World& world) {
  if (world.rank == 1) {
    const Buffer sent(kLarge, kSent);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(sent.data(), kLarge, MPI_INT32_T, 0, kFirstTag, world.channels.gradients, &request);
    tell(world, 0);
    wait_to_go_on(world);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    send_mark(world.channels.gradients);
    return true;
  }
  hear(world, 1);  // so that the receive finds what rank 1 has sent when it is posted
  ProgressEngine engine(world.channels, kTagLimit, {}, {}, kLongPatience);
  Buffer buffer(kLarge);
  const std::vector<Transfer> transfers = copy_from_rank_1(kLarge);
  const auto done = receive(engine, buffer, transfers);
  break_engine(engine);  // which posts the receive first
  wait_until_broken(engine);
  *world.go_on = true;
  if (!throws(done)) return false;
  std::ranges::fill(buffer, kOthers);
  await_mark(world.channels.gradients, 1);
  if (!is_all_of_others(buffer)) return false;
  say("untouched");
  return true;
}

// A collective that is not complete keeps its memory.
bool collective(const World& world) {
  if (world.rank != 0) {
    hear(world, 0);
    Buffer sent(kSmall, kSent);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibcast(sent.data(), kSmall, MPI_INT32_T, 1, world.channels.control, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return true;
  }
  ProgressEngine engine(world.channels, kTagLimit);
  auto memory = std::make_shared<Buffer>(kSmall);
  const std::weak_ptr<Buffer> watched = memory;
  const auto done = engine.submit(
      [memory = std::move(memory)](MPI_Comm comm) {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Ibcast(memory->data(), kSmall, MPI_INT32_T, 1, comm, &request);
        return request;
      },
      winnow::comm::CollectiveMemory::kOwned);
  break_engine(engine);
  if (!throws(done) || watched.expired()) return false;
  for (const int peer : {1, 2}) tell(world, peer);
  while (watched.lock()->front() != kSent) {  // lets MPI go on
    int found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, world.talk, &found, MPI_STATUS_IGNORE);
    std::this_thread::sleep_for(100us);
  }
  say("kept");
  return true;
}

// A collective in the caller's memory is over before the caller hears of the failure.
bool borrowed(const World& world) {
  Buffer buffer(kSmall);
  const auto start = [&](MPI_Comm comm) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibcast(buffer.data(), kSmall, MPI_INT32_T, 1, comm, &request);
    return request;
  };
  if (world.rank != 0) {
    wait_to_go_on(world);
    std::ranges::fill(buffer, kSent);
    MPI_Request request = start(world.channels.control);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    send_mark(world.channels.control);
    return true;
  }
  ProgressEngine engine(world.channels, kTagLimit, {}, {}, kLongPatience);
  const auto done = engine.submit(start, winnow::comm::CollectiveMemory::kBorrowed);
  break_engine(engine);
  wait_until_broken(engine);
  *world.go_on = true;
  if (!throws(done)) return false;
  std::ranges::fill(buffer, kOthers);
  for (const int peer : {1, 2}) await_mark(world.channels.control, peer);
  if (!is_all_of_others(buffer)) return false;
  say("untouched");
  return true;
}

// The launcher loses what is said right before an end. It has been run since where it has read
// that; the rest makes it likely that it has handed it on.
void wait_for_the_launcher() {
  int unread = 0;
  while (::ioctl(STDERR_FILENO, FIONREAD, &unread) == 0 && unread > 0) {
    std::this_thread::sleep_for(1ms);
  }
  std::this_thread::sleep_for(200ms);
}

// Rank 1 has begun to send and calls MPI no more.
bool stuck(const World& world) {
  if (world.rank > 1) {
    for (;;) std::this_thread::sleep_for(1s);
  }
  if (world.rank == 1) {
    const Buffer sent(kLarge, kSent);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(sent.data(), kLarge, MPI_INT32_T, 0, kFirstTag, world.channels.gradients, &request);
    tell(world, 0);
    for (;;) std::this_thread::sleep_for(1s);
  }
  hear(world, 1);
  ProgressEngine engine(
      world.channels, kTagLimit, {},
      [](const std::string& why) {
        std::fprintf(stderr, "%s\n", why.c_str());
        wait_for_the_launcher();
      },
      Patience{.sends = 10ms, .receives = 500ms});
  Buffer buffer(kLarge);
  const std::vector<Transfer> transfers = copy_from_rank_1(kLarge);
  const auto done = receive(engine, buffer, transfers);
  break_engine(engine);  // which posts the receive first
  throws(done);          // never returns
  return false;
}

// Rank 2 is late with the first sum, which rank 1 gets by way of rank 0. These two go on meanwhile,
// until tags would come again that the first sum has.
bool late_rank(const World& world) {
  using Kind = Transfer::Kind;
  constexpr int kFewTags = 4;
  constexpr int kSums = 12;
  const std::vector<Transfer> first =
      world.rank == 0   ? std::vector<Transfer>{{Kind::kReceiveAdd, 2, 0, 0, 0, kSmall},
                                                {Kind::kSend, 1, 0, 1, 0, kSmall}}
      : world.rank == 1 ? copy_from_rank_0()
                        : std::vector<Transfer>{{Kind::kSend, 0, 0, 0, 0, kSmall}};
  const std::vector<Transfer> others =
      world.rank == 0   ? std::vector<Transfer>{{Kind::kSend, 1, 0, 0, 0, kSmall}}
      : world.rank == 1 ? copy_from_rank_0()
                        : std::vector<Transfer>{};
  if (world.rank == 2) wait_to_go_on(world);
  ProgressEngine engine(world.channels, kFewTags);
  std::vector<Buffer> buffers;
  for (int s = 0; s < kSums; ++s) {
    buffers.emplace_back(kSmall, world.rank == 2 ? kOthers : world.rank == 1 ? -1 : s);
  }
  std::vector<std::shared_future<void>> done;
  for (int s = 0; s < kSums; ++s) {
    done.push_back(receive(engine, buffers[static_cast<std::size_t>(s)], s == 0 ? first : others));
  }
  done[1].get();
  if (world.rank == 0) *world.go_on = true;
  for (const auto& one : done) one.get();
  for (int s = 0; world.rank < 2 && s < kSums; ++s) {
    const Buffer& buffer = buffers[static_cast<std::size_t>(s)];
    if (std::ranges::count(buffer, s == 0 ? kOthers : s) != std::ssize(buffer)) return false;
  }
  if (world.rank == 1) say("in order");
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string_view which = argv[1];
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
  World world;
  MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
  for (MPI_Comm* comm : {&world.channels.gradients, &world.channels.shares, &world.channels.data,
                         &world.channels.control, &world.talk}) {
    MPI_Comm_dup(MPI_COMM_WORLD, comm);
  }
  MPI_Win window{};
  void* shared = nullptr;
  MPI_Aint bytes = world.rank == 0 ? sizeof(*world.go_on) : 0;
  int unit = 1;
  MPI_Win_allocate_shared(bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &window);
  if (world.rank == 0) new (shared) std::atomic<bool>(false);
  MPI_Win_shared_query(window, 0, &bytes, &unit, &shared);
  world.go_on = static_cast<std::atomic<bool>*>(shared);
  MPI_Barrier(MPI_COMM_WORLD);
  bool good = true;
  // Where all ranks are ended none may be finalising: Open MPI's launcher would wait for it.
  if (world.rank < 2 || which == "collective" || which == "borrowed" || which == "stuck" ||
      which == "late_rank") {
    good = which == "late"         ? late(world)
           : which == "under_way"  ? under_way(world)
           : which == "collective" ? collective(world)
           : which == "borrowed"   ? borrowed(world)
           : which == "late_rank"  ? late_rank(world)
                                   : stuck(world);
  }
  if (!good) MPI_Abort(MPI_COMM_WORLD, 3);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
