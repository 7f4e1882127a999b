#pragma once

#include <cstdint>

#include "pipeline/ingest/byte_gate.h"

namespace winnow::pipeline {

// The limits of bytes in flight. Readers wait for `encoded`; makers, which hold some of it, for
// `pixels`. A holder therefore always makes progress (ByteGate).
// Nobody ever waits for `kept`: its bytes are returned by the writer, which may have to wait for a
// maker.
struct Gates {
  explicit Gates(std::uint64_t bytes)
      : scratch_bytes(bytes / 8 * 3),
        encoded(bytes / 8 * 3, meter),
        pixels(bytes / 8 * 3, meter),
        kept(bytes / 4, meter) {}

  // Limit of memory kept for later images, in addition.
  const std::uint64_t scratch_bytes;

  ByteMeter meter;
  ByteGate encoded;  // encoded inputs in progress
  ByteGate pixels;   // decoded pixels
  ByteGate kept;     // packs, finished or being made, until they are written
};

}  // namespace winnow::pipeline
