#include "tests/fuzz/coverage/harness.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>

#include "common/error.h"
#include "tests/fuzz/coverage/heap_watch.h"

namespace winnow::fuzz {
namespace {

std::uint64_t processor_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

const Harness& find_harness(std::string_view name) {
  for (const Harness& harness : harnesses()) {
    if (harness.name == name) return harness;
  }
  std::fprintf(stderr, "there is no harness '%.*s'; --list names them\n",
               static_cast<int>(name.size()), name.data());
  std::exit(2);
}

std::string run(const Harness& harness, BytesView input) {
  const Limits& limits = harness.limits;
  // Code with sanitizers and counted edges is slower by this factor.
  const std::uint64_t slower = is_sanitized() ? 20 : 1;
  const std::uint64_t most_ns =
      slower * (limits.fixed_ms * 1'000'000 + limits.ns_per_byte * input.size());
  const std::uint64_t begun = processor_ns();
  watch_heap(limits.fixed_kib * 1024 + limits.per_byte * input.size());
  std::string refusal;
  try {
    harness.parse(input);
  } catch (const Error& error) {
    refusal = error.what();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "not an error of ours: %s\n", error.what());
    std::abort();
  }
  leave_heap();
  const std::uint64_t took = processor_ns() - begun;
  if (took > most_ns) {
    std::fprintf(stderr, "%zu bytes took %.1f s of the processor; they may take %.1f\n",
                 input.size(), static_cast<double>(took) / 1e9, static_cast<double>(most_ns) / 1e9);
    std::abort();
  }
  return refusal;
}

void expect(bool holds, std::string_view what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

}  // namespace winnow::fuzz
