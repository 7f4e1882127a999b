#pragma once

#include <filesystem>
#include <memory>

#include "datasets/source.h"

namespace winnow::datasets {

// Whether `path` is an images file in MNIST's IDX format, or a folder with one.
bool idx_found_at(const std::filesystem::path& path);

// Reads images and labels in MNIST's IDX format: pairs of files PREFIX-images-idx3-ubyte and
// PREFIX-labels-idx1-ubyte (also with a dot before idx; each plain or .gz, plain is preferred).
//
// Split   By the last part of the prefix: train, t10k or test, val. A pair with any other prefix
//         must be the only one, and has no split.
// Order   Train, val, test. Images are named "train/00000".
// Out     Gray pixels, read on request from the file, or from a temporary file if it is compressed
//         (ReadError kIo if that fails).
// Errors  UsageError naming the file: no labels file (unless labels are kNone), a wrong magic
//         number, a file size that contradicts the header, different counts, two pairs of one
//         split.
// Source  LeCun, Cortes, Burges, "The MNIST database", 1998.
std::unique_ptr<Source> open_idx(const std::filesystem::path& path, const OpenOptions& options);

}  // namespace winnow::datasets
