// A program that is not linked with MPI joins its ranks, as winnow from a wheel does. It prints
// their sum and the library's name. An error of the opened library is caught here by its type.
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
    } catch (const Error&) {  // MPI had already been initialised
    }
    std::printf("%d ranks of %s, linked with none\n", size, comm::mpi_library().c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 9;
  }
  return 0;
}
