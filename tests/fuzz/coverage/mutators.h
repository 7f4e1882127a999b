#pragma once

#include <string_view>

namespace winnow::fuzz {

// Makes LLVMFuzzerCustomMutator change inputs in the way of this harness.
// It changes members of archives, compressed contents and values of LMDB, with valid checksums and
// sizes. Other inputs are changed as libFuzzer does.
void choose_mutator(std::string_view harness);

}  // namespace winnow::fuzz
