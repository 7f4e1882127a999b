#pragma once

#include <filesystem>

#include "common/expected.h"
#include "datasets/source.h"

namespace winnow::datasets {

// What Source::read() returns for an input that is a file of its own. EIO and ESTALE are tried
// again a few times. Pipes and devices are errors. Safe from many threads.
Expected<Payload, ReadError> read_file_input(const std::filesystem::path& path);

}  // namespace winnow::datasets
