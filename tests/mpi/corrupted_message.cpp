// A message that arrives with a flipped bit. Run under local_mpirun. MPI_Isend and MPI_Issend of
// this program damage one message of rank 1 below the communicator's checksums, as a bad card or
// cable would.

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <string_view>
#include <vector>

#include "common/comm/mpi/mpi.h"
#include "common/error.h"
#include "tests/mpi/start.h"

namespace {

using winnow::comm::Communicator;

constexpr int kDamagedSend = 5;  // counts rank 1's messages that are large enough, to any rank
constexpr std::size_t kLargeBytes = 256;

std::atomic<bool> damages = false;

// Sends a copy with one bit flipped, which is never freed, or the message itself.
template <class Send>
int send_damaged(Send send, const void* from, int count, MPI_Datatype type, int to, int tag,
                 MPI_Comm comm, MPI_Request* request) {
  static int sent = 0;  // used only by the engine's thread
  int size = 0;
  MPI_Type_size(type, &size);
  const std::size_t bytes = static_cast<std::size_t>(size) * static_cast<std::size_t>(count);
  if (!damages || bytes < kLargeBytes || ++sent != kDamagedSend) {
    return send(from, count, type, to, tag, comm, request);
  }
  auto* const copy = new std::byte[bytes];
  std::memcpy(copy, from, bytes);
  copy[bytes / 2] ^= std::byte{0x10};
  return send(copy, count, type, to, tag, comm, request);
}

// Whether a sum of integers is right.
bool sum(Communicator& comm) {
  std::vector<float> buffer(20'000, 1.0F);
  winnow::comm::start(comm, buffer, "ring", {.segment_elements = 1000}).wait();
  for (const float value : buffer) {
    if (value != static_cast<float>(comm.size())) return false;
  }
  return true;
}

void exchange(Communicator& comm) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  std::vector<std::size_t> offsets;
  for (std::size_t r = 0; r <= ranks; ++r) offsets.push_back(40'000 * r);
  const std::vector<std::byte> out(offsets.back());
  std::vector<std::byte> in(offsets.back());
  comm.start_all_to_all(out, offsets, in, offsets, {.segment_elements = 1000}).wait();
}

int run(std::string_view what) {
  const std::unique_ptr<Communicator> comm = winnow::comm::make_mpi();
  comm->use_checksums(what != "unseen");
  sum(*comm);
  damages = comm->rank() == 1;
  if (what == "exchange") {
    exchange(*comm);
  } else if (!sum(*comm)) {
    std::printf("rank %d has a wrong sum\n", comm->rank());
  }
  comm->barrier();
  return 0;
}

}  // namespace

extern "C" int MPI_Isend(const void* from, int count, MPI_Datatype type, int to, int tag,
                         MPI_Comm comm, MPI_Request* request) {
  return send_damaged(&PMPI_Isend, from, count, type, to, tag, comm, request);
}
extern "C" int MPI_Issend(const void* from, int count, MPI_Datatype type, int to, int tag,
                          MPI_Comm comm, MPI_Request* request) {
  return send_damaged(&PMPI_Issend, from, count, type, to, tag, comm, request);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    return run(argv[1]);
  } catch (const winnow::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 9;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 8;
  }
}
