#pragma once

#include <mpi.h>

#include <cstddef>

#include "common/comm/communicator.h"

namespace winnow::comm {

// Conversion of messages whose element type differs from that of the buffer.
struct Coding {
  std::size_t element_bytes;  // size of an element in a message
  // Rounds the buffer's elements to the message's type, so that sender and receivers have the same
  // bits. Writes them into `message` unless it is null.
  void (*encode)(std::byte* buffer, std::byte* message, std::size_t count);
  void (*decode)(std::byte* buffer, const std::byte* message, std::size_t count);
};

// Element types of a buffer and its messages, and the function that combines a message with a range
// of the buffer (nullptr: data are only moved).
struct Combine {
  MPI_Datatype type;  // type in messages
  std::size_t element_bytes;
  void (*apply)(std::byte* into, const std::byte* message, std::size_t count);
  const Coding* coding = nullptr;  // nullptr: messages have the buffer's type

  std::size_t message_bytes() const { return coding ? coding->element_bytes : element_bytes; }
};
// The combination for a type, a reduction and a wire. For any type except bf16 and f16. Throws
// Error like Communicator::start.
Combine combine_of(const Collective& what);
Combine none();  // elements of 4 bytes

}  // namespace winnow::comm
