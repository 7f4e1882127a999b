#pragma once

#include <filesystem>
#include <memory>

#include "datasets/source.h"

namespace winnow::datasets {

// Whether `path` is SVHN with cropped digits: a folder with train_32x32.mat, test_32x32.mat or
// extra_32x32.mat, or a file *.mat with the header of a MATLAB file.
bool svhn_found_at(const std::filesystem::path& path);

// Reads the cropped digits of SVHN: MATLAB files with an array X of 32 x 32 x 3 x N bytes, and an
// array y of N numbers, where 10 means digit 0.
//
// Out      Pixels, read on request from the file, or from a temporary file if X is compressed, as
//          in the published files (1.6 GB for extra).
// Classes  The digits.
// Order    Train, then test; extra digits count as train. Images are named "train_32x32/00000".
// Errors   UsageError naming the file: X or y (unless labels are kNone) is missing or has another
//          shape; y has a value that is no digit; as for_each_array() (mat_file.h).
// Source   Netzer and others, "Reading Digits in Natural Images with Unsupervised Feature
//          Learning", 2011.
std::unique_ptr<Source> open_svhn(const std::filesystem::path& path, const OpenOptions& options);

}  // namespace winnow::datasets
