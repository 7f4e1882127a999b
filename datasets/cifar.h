#pragma once

#include <filesystem>
#include <memory>

#include "datasets/source.h"

namespace winnow::datasets {

// True for a folder that holds, or a file that is, data_batch_N.bin or test_batch.bin (CIFAR-10),
// or train.bin or test.bin whose size is a multiple of CIFAR-100's records.
bool cifar_found_at(const std::filesystem::path& path);

// CIFAR-10's and CIFAR-100's binary version (Krizhevsky, "Learning Multiple Layers of Features from
// Tiny Images", 2009): records of a label, or of a coarse and a fine one, and 32 x 32 pixels in
// planes R, G, B. Inputs are interleaved pixels, read from the file when they are asked for.
// Classes are the ten, or CIFAR-100's hundred fine ones, named by batches.meta.txt or
// fine_label_names.txt beside the files, by numbers where there is none. Listed by split, train,
// test; entries are named "data_batch_1/00000". Throws UsageError naming the file: files of both
// sets in one folder, a size that is no whole number of records, a label that is none (unless
// labels are kNone), names of classes that do not fit.
std::unique_ptr<Source> open_cifar(const std::filesystem::path& path, const OpenOptions& options);

}  // namespace winnow::datasets
