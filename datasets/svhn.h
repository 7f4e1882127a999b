#pragma once

#include <filesystem>
#include <memory>

#include "datasets/source.h"

namespace winnow::datasets {

// True for a folder that holds train_32x32.mat, test_32x32.mat or extra_32x32.mat, and for a file
// *.mat, that begins as MAT-files do.
bool svhn_found_at(const std::filesystem::path& path);

// The cropped digits of SVHN (Netzer and others, "Reading Digits in Natural Images with
// Unsupervised Feature Learning", 2011): X, 32 x 32 x 3 x N bytes, and y, N numbers of which 10
// means the digit 0. Classes are the digits. Inputs are pixels, read from the file when they are
// asked for, or from a temporary one where X is compressed, as in the published files (1.6 GB for
// extra). The extra digits count as train. Listed by split, train, test; entries are named
// "train_32x32/00000". Throws UsageError naming the file: X or (unless labels are kNone) y is
// missing or of another shape, y has what is no digit, and as for_each_array does (mat_file.h).
std::unique_ptr<Source> open_svhn(const std::filesystem::path& path, const OpenOptions& options);

}  // namespace winnow::datasets
