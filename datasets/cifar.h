#pragma once

#include <filesystem>
#include <memory>

#include "datasets/source.h"

namespace winnow::datasets {

// Whether `path` is CIFAR in binary form: data_batch_N.bin or test_batch.bin (CIFAR-10), train.bin
// or test.bin with a size that is a multiple of CIFAR-100's records, or a folder with one of these.
bool cifar_found_at(const std::filesystem::path& path);

// Reads CIFAR-10 and CIFAR-100 in binary form: records of a label (or a coarse and a fine one) and
// 32 x 32 pixels in planes R, G, B.
//
// Out      Interleaved pixels, read from the file on request.
// Classes  The ten of CIFAR-10, or the hundred fine ones of CIFAR-100. Named by batches.meta.txt or
//          fine_label_names.txt beside the files; by numbers if there is none.
// Order    Train, then test. Images are named "data_batch_1/00000".
// Errors   UsageError naming the file: files of both sets in one folder, a size that is no whole
//          number of records, an invalid label (unless labels are kNone), class names that do not
//          fit.
// Source   Krizhevsky, "Learning Multiple Layers of Features from Tiny Images", 2009.
std::unique_ptr<Source> open_cifar(const std::filesystem::path& path, const OpenOptions& options);

}  // namespace winnow::datasets
