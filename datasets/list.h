#pragma once

#include <filesystem>
#include <memory>

#include "datasets/source.h"

namespace winnow::datasets {

// True for a .txt or .lst file whose first line is one of a list.
bool list_found_at(const std::filesystem::path& path);

// Images that a text lists, a line each, in its order:
//
//   PATH LABEL               Caffe's: the label is what follows the last blank, a number. Lines
//                            without one are a path alone.
//   INDEX\tLABEL...\tPATH    MXNet's .lst: labels are numbers ("3.000000"), the index is not used.
//
// Empty lines are passed over. The split is from a word of the list's name ("val.txt"). Where files
// are looked for and what labels are: listed_files.h.
// Throws UsageError naming the line: an MXNet label that is no class, a line of more than 1 MiB;
// what listed_files.h says.
std::unique_ptr<Source> open_list(const std::filesystem::path& path, const OpenOptions& options);

}  // namespace winnow::datasets
