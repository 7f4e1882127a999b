#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "datasets/source.h"

namespace winnow::datasets {

// A data set format that can be read. A new format is a pair of files and a row in formats.cpp.
struct Format {
  std::string_view name;
  std::string_view what;                                // one line for --help
  bool (*found_at)(const std::filesystem::path& path);  // a cheap check
  std::unique_ptr<Source> (*open)(const std::filesystem::path& path, const OpenOptions& options);
};

std::span<const Format> formats();

// Opens the data set at `path` in the format options.format or, if that is "auto", in the first
// format that recognises it.
// Errors  UsageError: nothing at `path`, no format fits, an unknown format (lists the known ones),
//         no inputs, an empty class.
std::unique_ptr<Source> open_source(const std::filesystem::path& path, const OpenOptions& options);

}  // namespace winnow::datasets
