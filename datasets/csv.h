#pragma once

#include <filesystem>
#include <memory>

#include "datasets/source.h"

namespace winnow::datasets {

// True for a file whose name ends in .csv or .tsv.
bool csv_found_at(const std::filesystem::path& path);

// Images that a table lists, a row each, in its order. Fields are apart by tabs in a .tsv; else by
// that of comma, semicolon and tab which the first line has most of. Where files are looked for and
// what labels are: listed_files.h.
//
// Columns are found by the names in the first row, in any case; the first of these that is there:
//   file    path file filename file_name filepath file_path image image_path image_name img
//   img_path
//           image_id id
//   label   label class class_name label_name target category, one; or labels classes, several,
//   apart
//           by '|' or ';'
//   split   split set subset partition, with the names that parse_split takes; without it, from a
//           word of the file's name ("train.csv")
//   group   group group_id
// Without such a row: file, label, split, group, as far as there are as many. Columns that are not
// used are named in description().
//
// Throws UsageError naming the line: a row without a file, a split of another name, what csv.h of
// common says; no column of files; what listed_files.h says.
std::unique_ptr<Source> open_csv(const std::filesystem::path& path, const OpenOptions& options);

}  // namespace winnow::datasets
