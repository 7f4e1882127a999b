#pragma once

#include <mpi.h>

#include <cstddef>

#include "common/comm/communicator.h"

namespace winnow::comm {

// The elements of a buffer, and how one range of them enters another (null: data are only moved).
struct Combine {
  MPI_Datatype type;
  std::size_t element_bytes;
  void (*apply)(std::byte* into, const std::byte* from, std::size_t count);
};
Combine sum_of_floats();
Combine of_int32(Reduction reduction);
Combine of_int64(Reduction reduction);
Combine none();  // elements of 4 bytes

}  // namespace winnow::comm
