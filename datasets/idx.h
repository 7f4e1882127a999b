#pragma once

#include <filesystem>
#include <memory>

#include "datasets/source.h"

namespace winnow::datasets {

// True for a folder with an images file in MNIST's IDX format, or for such a file itself.
bool idx_found_at(const std::filesystem::path& path);

// Reads pairs PREFIX-images-idx3-ubyte and PREFIX-labels-idx1-ubyte (also with a dot before idx;
// each plain or .gz, plain is preferred).
//
// Split   The last part of the prefix: train, t10k or test, val. A pair with any other prefix must
//         be the only one, and has no split.
// Order   Train, val, test. Entries are named "train/00000".
// Out     Gray pixels, read on request from the file, or from a temporary file if it is compressed
//         (kIo if that fails).
// Errors  UsageError naming the file: no labels file (unless labels are kNone), a wrong magic
//         number, a file size that contradicts the header, different counts, two pairs of one
//         split.
// Source  LeCun, Cortes, Burges, "The MNIST database", 1998.
std::unique_ptr<Source> open_idx(const std::filesystem::path& path, const OpenOptions& options);

}  // namespace winnow::datasets
