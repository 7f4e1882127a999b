#pragma once

#include <string_view>

namespace winnow::fuzz {

// From now on LLVMFuzzerCustomMutator changes inputs as one of that harness is to be changed:
// members of an archive, what is compressed in a file and values of LMDB, with the sums and sizes
// that fit; elsewhere as libFuzzer does.
void choose_mutator(std::string_view harness);

}  // namespace winnow::fuzz
