#pragma once

#include <filesystem>

#include "common/expected.h"
#include "datasets/source.h"

namespace winnow::datasets {

// Reads an input that is a separate file, as Source::read() does. EIO and ESTALE are retried a few
// times. Pipes and devices are errors. Thread-safe.
Expected<Payload, ReadError> read_file_input(const std::filesystem::path& path);

}  // namespace winnow::datasets
