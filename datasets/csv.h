#pragma once

#include <filesystem>
#include <memory>

#include "datasets/source.h"

namespace winnow::datasets {

// Whether `path` is a file named *.csv or *.tsv.
bool csv_found_at(const std::filesystem::path& path);

// Reads the images that a table (CSV or TSV) lists, one a row, in its order. Files and labels are
// resolved as in listed_files.h.
//
// Separator  Tab in a .tsv; otherwise the most frequent of comma, semicolon and tab in the first
//            line.
// Header     Columns are found by the names in the first row, ignoring case. For each purpose
//            below, the first of its names that exists is used. Without such a row, the columns are
//            file, label, split, group, as many as there are. Unused columns are named in
//            description().
// - file: path file filename file_name filepath file_path image image_path image_name img img_path
//   image_id id
// - label: label class class_name label_name target category (one); or labels classes (several,
//   separated by '|' or ';')
// - split: split set subset partition, with the names of parse_split(). Without such a column, from
//   a word of the file's name ("train.csv")
// - group: group group_id
// Errors     UsageError naming the line: a row without a file, an unknown split, errors of
//            common/csv.h. Also: no column of files, and as listed_files.h.
std::unique_ptr<Source> open_csv(const std::filesystem::path& path, const OpenOptions& options);

}  // namespace winnow::datasets
