#include <mpi.h>

#include <array>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "common/comm/mpi/check_mpi_internal.h"
#include "common/comm/mpi/introductions_internal.h"

namespace winnow::comm {
namespace {

using Clock = std::chrono::steady_clock;

// What a rank's text is kept under: by the launcher, for the processes that it started.
std::string name_of(int rank) { return "winnow-introduction-" + std::to_string(rank); }

void publish(const std::string& text, int rank) {
  if (text.empty() || text.size() >= MPI_MAX_PORT_NAME) return;
  MPI_Publish_name(name_of(rank).c_str(), MPI_INFO_NULL, text.c_str());
}

std::vector<std::string> texts_of_others(int rank, int size) {
  std::vector<std::string> texts;
  for (int other = 0; other < size; ++other) {
    std::array<char, MPI_MAX_PORT_NAME + 1> text{};
    if (other == rank) continue;
    if (MPI_Lookup_name(name_of(other).c_str(), MPI_INFO_NULL, text.data()) == MPI_SUCCESS) {
      texts.emplace_back(text.data());
    }
  }
  return texts;
}

// Ranks of one machine may share a core: others go first.
void pause(Clock::duration waited) {
  constexpr auto kShort = std::chrono::milliseconds(20);
  if (waited < kShort) return std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

void connect_ranks(const Introductions& introductions) {
  int rank = 0;
  int size = 0;
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
  publish(introductions.own, rank);
  MPI_Request barrier = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibarrier(MPI_COMM_WORLD, &barrier), "MPI_Ibarrier");
  const auto begin = Clock::now();
  bool asks = !introductions.own.empty() && introductions.after_s > 0;
  for (;;) {
    int done = 0;
    check_mpi(MPI_Test(&barrier, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0) return;
    const Clock::duration waited = Clock::now() - begin;
    if (asks && waited > std::chrono::duration<double>(introductions.after_s)) {
      asks = false;
      introductions.take(texts_of_others(rank, size));
    }
    pause(waited);
  }
}

}  // namespace winnow::comm
