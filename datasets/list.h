#pragma once

#include <filesystem>
#include <memory>

#include "datasets/source.h"

namespace winnow::datasets {

// Whether `path` is a .txt or .lst file whose first line is like that of a list of images.
bool list_found_at(const std::filesystem::path& path);

// Reads the images that a text file lists, one a line, in its order. Files and labels are resolved
// as in listed_files.h.
//
// PATH LABEL              Caffe's form: the label is the number after the last blank. A line
//                         without a number is a path only.
// INDEX\tLABEL...\tPATH   MXNet's .lst: labels are numbers ("3.000000"); the index is ignored.
//
// Empty lines are skipped. The split comes from a word of the list's name ("val.txt").
// Errors  UsageError naming the line: an invalid MXNet label, a line of more than 1 MiB; as
//         listed_files.h.
std::unique_ptr<Source> open_list(const std::filesystem::path& path, const OpenOptions& options);

}  // namespace winnow::datasets
