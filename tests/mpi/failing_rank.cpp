// What one rank's failure does to the others. Run under local_mpirun with the name of a failure;
// whichever it is, all ranks end soon and the launcher's exit status is not 0.

#include <array>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "common/comm/mpi/mpi.h"
#include "common/error.h"

namespace {

using winnow::comm::Communicator;

void fail(std::string_view how, Communicator& comm) {
  const bool last = comm.rank() == comm.size() - 1;
  comm.barrier();
  if (how == "abort") {
    if (last) comm.abort(7);
    comm.barrier();  // never over
  } else if (how == "unequal") {
    // The buffers differ in length: an error, not a wrong sum.
    std::vector<float> buffer(last ? 3000 : 2000);
    comm.start_all_reduce(buffer, winnow::comm::find_schedule("ring"), {}).wait();
  } else if (how == "throw") {
    std::vector<float> buffer(100'000);
    if (last) throw std::runtime_error("thrown on the last rank");
    comm.start_all_reduce(buffer, winnow::comm::find_schedule("multicolor"), {}).wait();
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
