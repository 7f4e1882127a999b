#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "common/bytes.h"

namespace winnow::fuzz {

// Limits on memory and time for an input of n bytes.
struct Limits {
  std::uint64_t fixed_kib = 1024;    // heap, whatever the input
  std::uint64_t per_byte = 64;       // plus this for each of its bytes, at the peak
  std::uint64_t fixed_ms = 500;      // CPU time, whatever the input
  std::uint64_t ns_per_byte = 5000;  // plus this for each of its bytes
};

// A parser, called with arbitrary bytes. Returns 0. Our own errors count as refusals. Findings: any
// other exception, and a violated expect() on what the parser returned.
struct Harness {
  std::string_view name;
  int (*parse)(BytesView input);
  Limits limits;
  std::string_view dictionary;  // a file of dictionaries/ without its extension; empty: none
};

// One row for each winnow_fuzz() of CMakeLists.txt.
std::span<const Harness> harnesses();
// Ends the process with a sentence if there is none with that name.
const Harness& find_harness(std::string_view name);

// Calls harness.parse with `input`. Returns the message of a refusal; empty if it is accepted.
// Ends the process with a sentence and abort() if it costs more than the limits (at the allocation
// that is too much), or throws anything but an Error.
std::string run(const Harness& harness, BytesView input);

// Reports a finding, by abort(), if `holds` is false.
void expect(bool holds, std::string_view what);

}  // namespace winnow::fuzz
