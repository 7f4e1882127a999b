#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "common/bytes.h"

namespace winnow::fuzz {

// The most that an input of n bytes may cost.
struct Limits {
  std::uint64_t fixed_kib = 1024;    // heap, for any input
  std::uint64_t per_byte = 64;       // peak heap per input byte, in addition
  std::uint64_t fixed_ms = 500;      // processor time, for any input
  std::uint64_t ns_per_byte = 5000;  // processor time per input byte, in addition
};

// A parser that is called with arbitrary bytes. It returns 0.
// Refusals    Errors of ours.
// Findings    Any other exception, and a property of the result that does not hold (see expect()).
struct Harness {
  std::string_view name;
  int (*parse)(BytesView input);
  Limits limits;
  std::string_view dictionary;  // a file of dictionaries/ without its extension; empty: none
};

// All harnesses: one row for each winnow_fuzz() of CMakeLists.txt.
std::span<const Harness> harnesses();
// Ends the process with a message if there is no harness of that name.
const Harness& find_harness(std::string_view name);

// Calls harness.parse with `input`.
// Out     The message of the refusal; empty if the input is accepted.
// Ends    the process with a message and abort() if the input costs too much, at the allocation
//         that exceeds the limit, or if anything but an Error is thrown.
std::string run(const Harness& harness, BytesView input);

// Reports a finding with abort() if `holds` is false.
void expect(bool holds, std::string_view what);

}  // namespace winnow::fuzz
