#pragma once

#include <string_view>

namespace winnow::fuzz {

// From now on LLVMFuzzerCustomMutator mutates inputs in the way of that harness: members of an
// archive, compressed parts of a file and values of LMDB, with matching checksums and sizes; else
// as libFuzzer does.
void choose_mutator(std::string_view harness);

}  // namespace winnow::fuzz
