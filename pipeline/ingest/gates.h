#pragma once

#include <cstdint>

#include "pipeline/ingest/byte_gate.h"

namespace winnow::pipeline {

// The bound on bytes in flight, shared out. Readers wait for `encoded`, makers, who hold some of
// it, for `pixels`; so whoever holds bytes gets on (ByteGate). Nobody ever waits for `kept`: its
// bytes are given back by the writer, which may have to wait for a maker.
struct Gates {
  explicit Gates(std::uint64_t bytes)
      : scratch_bytes(bytes / 8 * 3),
        encoded(bytes / 8 * 3, meter),
        pixels(bytes / 8 * 3, meter),
        kept(bytes / 4, meter) {}

  // Of memory that is kept for later images, besides.
  const std::uint64_t scratch_bytes;

  ByteMeter meter;
  ByteGate encoded;  // inputs being worked on, as read
  ByteGate pixels;   // decoded
  ByteGate kept;     // packs, and what is to become one, until written
};

}  // namespace winnow::pipeline
