#pragma once

#include <filesystem>
#include <memory>

#include "datasets/source.h"

namespace winnow::datasets {

// True for a folder that holds an images file of MNIST's IDX format, or for such a file itself.
bool idx_found_at(const std::filesystem::path& path);

// Pairs PREFIX-images-idx3-ubyte and PREFIX-labels-idx1-ubyte (also with a dot before idx, each
// plain or .gz; the plain one is taken where both are there). The last part of the prefix is the
// split: train, t10k or test, val; another prefix is a set without split, and then the only pair.
// Listed train, val, test; entries are named "train/00000". Inputs are gray pixels, read from the
// file when they are asked for, from a temporary one where it is compressed: kIo where that fails.
// LeCun, Cortes, Burges, "The MNIST database", 1998.
// Throws UsageError naming the file: no labels file (unless labels are kNone), a wrong magic
// number, a file shorter or longer than its header says, counts that differ, two pairs of one
// split.
std::unique_ptr<Source> open_idx(const std::filesystem::path& path, const OpenOptions& options);

}  // namespace winnow::datasets
