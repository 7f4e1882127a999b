// The entry points of libFuzzer: selects the harness, and passes each input to it.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tests/fuzz/coverage/harness.h"
#include "tests/fuzz/coverage/mutators.h"

namespace {

using namespace winnow;

const fuzz::Harness* chosen = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  constexpr std::string_view kHarness = "--harness=";
  for (int i = 1; i < *argc; ++i) {
    const std::string_view argument = (*argv)[i];
    if (argument == "--list") {
      for (const fuzz::Harness& row : fuzz::harnesses()) {
        std::printf("%s %s\n", row.name.data(), row.dictionary.data());
      }
      std::exit(0);
    }
    if (argument.starts_with(kHarness)) {
      chosen = &fuzz::find_harness(argument.substr(kHarness.size()));
    }
  }
  if (chosen == nullptr) {
    std::fprintf(stderr, "name a harness: --harness=NAME; --list names them\n");
    std::exit(2);
  }
  fuzz::choose_mutator(chosen->name);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::run(*chosen, std::as_bytes(std::span(data, size)));
  return 0;
}
