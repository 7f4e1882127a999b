// What a failed engine leaves of the messages under way. Run under local_mpirun with the name of a
// case. Rank 0 has an engine that fails; rank 1 calls MPI itself, and sends late. What a network
// card or another process would do at any time, write a message into the buffer of a receive that
// is posted, happens here while rank 0 calls MPI.

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
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
using Clock = std::chrono::steady_clock;

constexpr int kTagLimit = 1000;
constexpr int kFirstTag = 0;  // the engine's, of a communicator
constexpr std::int32_t kSent = 5;
constexpr std::int32_t kOthers = 7;                   // of who has the memory next
constexpr std::size_t kSmall = 200;                   // sent without asking the receiver
constexpr std::size_t kLarge = std::size_t{1} << 22;  // in many pieces, when it is being received

struct World {
  int rank = 0;
  Channels channels{};
  MPI_Comm talk{};  // of the test
};

void tell(const World& world, int peer) { MPI_Send(nullptr, 0, MPI_BYTE, peer, 0, world.talk); }
void hear(const World& world, int peer) {
  MPI_Recv(nullptr, 0, MPI_BYTE, peer, 0, world.talk, MPI_STATUS_IGNORE);
}

// Lets MPI do what it is still about to.
void call_mpi_for(const World& world, Clock::duration time) {
  const auto end = Clock::now() + time;
  while (Clock::now() < end) {
    int found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, world.talk, &found, MPI_STATUS_IGNORE);
    std::this_thread::sleep_for(100us);
  }
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

// The operation is over, with an error; its buffer is somebody else's from now on.
bool throws(const std::shared_future<void>& done) {
  try {
    done.get();
    return false;
  } catch (const winnow::SystemError&) {
    return true;
  }
}

bool keeps(const World& world, Buffer& buffer) {
  std::ranges::fill(buffer, kOthers);
  call_mpi_for(world, 500ms);
  return std::ranges::count(buffer, kOthers) == std::ssize(buffer);
}

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
    call_mpi_for(world, 600ms);
    return true;
  }
  ProgressEngine engine(world.channels, kTagLimit);
  Buffer buffer(kSmall);
  const std::vector<Transfer> transfers = copy_from_rank_1(kSmall);
  const auto done = receive(engine, buffer, transfers);
  break_engine(engine);
  if (!throws(done)) return false;
  tell(world, 1);
  if (!keeps(world, buffer)) return false;
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
    std::this_thread::sleep_for(700ms);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return true;
  }
  hear(world, 1);
  ProgressEngine engine(world.channels, kTagLimit);
  Buffer buffer(kLarge);
  const std::vector<Transfer> transfers = copy_from_rank_1(kLarge);
  const auto done = receive(engine, buffer, transfers);
  std::this_thread::sleep_for(200ms);  // the receive is posted, and rank 1 asked to go on
  break_engine(engine);
  if (!throws(done) || !keeps(world, buffer)) return false;
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
  call_mpi_for(world, 500ms);
  if (watched.lock()->front() != kSent) return false;
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
    std::this_thread::sleep_for(500ms);
    std::ranges::fill(buffer, kSent);
    MPI_Request request = start(world.channels.control);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return true;
  }
  ProgressEngine engine(world.channels, kTagLimit);
  const auto done = engine.submit(start, winnow::comm::CollectiveMemory::kBorrowed);
  break_engine(engine);
  if (!throws(done) || !keeps(world, buffer)) return false;
  say("untouched");
  return true;
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
        std::this_thread::sleep_for(200ms);  // the launcher loses what is said right before an end
      },
      Patience{.sends = 10ms, .receives = 500ms});
  Buffer buffer(kLarge);
  const std::vector<Transfer> transfers = copy_from_rank_1(kLarge);
  const auto done = receive(engine, buffer, transfers);
  std::this_thread::sleep_for(200ms);
  break_engine(engine);
  throws(done);  // never returns
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string_view which = argv[1];
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
  World world;
  MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
  for (MPI_Comm* comm :
       {&world.channels.gradients, &world.channels.shares, &world.channels.data, &world.channels.control, &world.talk}) {
    MPI_Comm_dup(MPI_COMM_WORLD, comm);
  }
  bool good = true;
  // Where all ranks are ended none may be finalising: Open MPI's launcher would wait for it.
  if (world.rank < 2 || which == "collective" || which == "borrowed" || which == "stuck") {
    good = which == "late"         ? late(world)
           : which == "under_way"  ? under_way(world)
           : which == "collective" ? collective(world)
           : which == "borrowed"   ? borrowed(world)
                                   : stuck(world);
  }
  if (!good) MPI_Abort(MPI_COMM_WORLD, 3);
  MPI_Finalize();
  return 0;
}
