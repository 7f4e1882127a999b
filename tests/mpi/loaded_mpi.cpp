// A program that is linked with no MPI joins its ranks, as winnow of a wheel does: their sum, the
// library's name, and an error of the opened library, which is caught here by its type.
#include <cstdio>
#include <exception>
#include <memory>
#include <span>

#include "common/comm/mpi/mpi.h"
#include "common/error.h"

int main() {
  using namespace winnow;
  try {
    const std::unique_ptr<comm::Communicator> comm = comm::make_mpi();
    double sum = comm->rank() + 1;
    comm->all_reduce(std::span(&sum, 1));
    const int size = comm->size();
    if (sum != size * (size + 1) / 2) return 3;
    try {
      static_cast<void>(comm::make_mpi());
      return 4;
    } catch (const SystemError&) {
      return 5;
    } catch (const Error&) {  // MPI was initialised before
    }
    std::printf("%d ranks of %s, linked with none\n", size, comm::mpi_library().c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 9;
  }
  return 0;
}
