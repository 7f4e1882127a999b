#pragma once

#include <cstdint>

#include "pipeline/ingest/byte_gate.h"

namespace winnow::pipeline {

// The limits on bytes in flight during an ingest. Reader threads wait for `encoded`. Threads that
// decode hold some of it and wait for `pixels`. Thus whoever holds bytes always makes progress
// (ByteGate). No thread waits for `kept`: its bytes are returned by the writer, which may have to
// wait for a decoding thread.
struct Gates {
  explicit Gates(std::uint64_t bytes)
      : scratch_bytes(bytes / 8 * 3),
        encoded(bytes / 8 * 3, meter),
        pixels(bytes / 8 * 3, meter),
        kept(bytes / 4, meter) {}

  // Limit of memory that is kept for reuse by later images, in addition to the gates.
  const std::uint64_t scratch_bytes;

  ByteMeter meter;
  ByteGate encoded;  // bytes of encoded inputs
  ByteGate pixels;   // bytes of decoded pixels
  ByteGate kept;     // bytes of packs, from when they are begun until they are written
};

}  // namespace winnow::pipeline
