#pragma once

#include <mpi.h>

#include <cstddef>

#include "common/comm/communicator.h"

namespace winnow::comm {

// Messages whose elements are others than the buffer's.
struct Coding {
  std::size_t element_bytes;  // of a message
  // Rounds the buffer's elements to what a message can hold, and writes them into `message`, if
  // there is one: so sender and receivers have the same bits.
  void (*encode)(std::byte* buffer, std::byte* message, std::size_t count);
  void (*decode)(std::byte* buffer, const std::byte* message, std::size_t count);
};

// The elements of a buffer and of its messages, and how those of a message enter a range of the
// buffer (null: data are only moved).
struct Combine {
  MPI_Datatype type;  // of a message
  std::size_t element_bytes;
  void (*apply)(std::byte* into, const std::byte* message, std::size_t count);
  const Coding* coding = nullptr;  // null: messages have the buffer's elements

  std::size_t message_bytes() const { return coding ? coding->element_bytes : element_bytes; }
};
// Of any but bf16 and f16. Throws Error as Communicator::start.
Combine combine_of(const Collective& what);
Combine none();  // elements of 4 bytes

}  // namespace winnow::comm
