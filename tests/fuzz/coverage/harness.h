#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "common/bytes.h"

namespace winnow::fuzz {

// What an input of n bytes may cost.
struct Limits {
  std::uint64_t fixed_kib = 1024;    // of heap, whatever the input
  std::uint64_t per_byte = 64;       // and for each of its bytes, at its highest
  std::uint64_t fixed_ms = 500;      // of the processor, whatever the input
  std::uint64_t ns_per_byte = 5000;  // and for each of its bytes
};

// A parser, called with bytes that may be anything. It returns 0. Errors of ours are refusals, any
// other exception is a finding, and so is what the parser makes of the bytes and what does not hold
// of it (see expect()).
struct Harness {
  std::string_view name;
  int (*parse)(BytesView input);
  Limits limits;
  std::string_view dictionary;  // a file of dictionaries/ without its ending; empty: none
};

// One row for each winnow_fuzz() of CMakeLists.txt.
std::span<const Harness> harnesses();
// Ends the process with a sentence where there is none of that name.
const Harness& find_harness(std::string_view name);

// Calls harness.parse with `input`. Returns the sentence that refuses it; empty where it is taken.
// Ends the process with a sentence and abort() where that costs more than it may, at the allocation
// that is too much, or throws anything but an Error.
std::string run(const Harness& harness, BytesView input);

// A finding, by abort(), where `holds` is false.
void expect(bool holds, std::string_view what);

}  // namespace winnow::fuzz
