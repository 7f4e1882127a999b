#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "common/comm/mpi/check_mpi_internal.h"
#include "common/comm/mpi/introductions_internal.h"

namespace winnow::comm {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMostAsked = 512;         // names: a launcher answers them one by one
constexpr std::size_t kMostTexts = 16;  // each machine gets this few connections: see Doorbell
constexpr int kMostRounds = 5;          // while nobody has published a text

// The key of a rank's text at a launcher, which may start many jobs in a row.
std::string name_of(int rank) {
  const char* const job = std::getenv("PMIX_NAMESPACE");
  return "winnow-introduction-" + std::string(job != nullptr ? job : "") + "-" +
         std::to_string(rank);
}

void publish(const std::string& text, int rank) {
  if (text.empty() || text.size() >= MPI_MAX_PORT_NAME) return;
  MPI_Publish_name(name_of(rank).c_str(), MPI_INFO_NULL, text.c_str());
}

// Asks for the texts of other ranks by name, beginning with the rank after this one and wrapping
// around. Most have none, because one rank per machine publishes its text.
class Neighbours {
 public:
  Neighbours(int rank, int size) : rank_(rank), size_(size) {}

  bool all_asked() const {
    return asked_ == std::min(size_ - 1, kMostAsked) || texts_.size() == kMostTexts;
  }
  void ask_next() {
    std::array<char, MPI_MAX_PORT_NAME + 1> text{};
    const std::string name = name_of((rank_ + ++asked_) % size_);
    if (MPI_Lookup_name(name.c_str(), MPI_INFO_NULL, text.data()) == MPI_SUCCESS) {
      texts_.emplace_back(text.data());
    }
  }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  int rank_;
  int size_;
  int asked_ = 0;
  std::vector<std::string> texts_;
};

// Ranks of one machine may share a core: let others run.
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
  const bool may_ask = !introductions.own.empty() && introductions.after_s > 0;
  bool told = false;
  int rounds = 0;
  Neighbours neighbours(rank, size);
  for (;;) {
    int done = 0;
    check_mpi(MPI_Test(&barrier, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0) return;
    const Clock::duration waited = Clock::now() - begin;
    const bool late = waited > std::chrono::duration<double>(introductions.after_s * (rounds + 1));
    if (!may_ask || told || !late) {
      pause(waited);
    } else if (!neighbours.all_asked()) {
      neighbours.ask_next();
    } else if (neighbours.texts().empty() && ++rounds < kMostRounds) {
      neighbours = Neighbours(rank, size);  // the others may begin later
    } else {
      told = true;
      introductions.take(neighbours.texts());
    }
  }
}

}  // namespace winnow::comm
