#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "datasets/source.h"

namespace winnow::datasets {

// One row per format; a new format is its own pair of files and a row in formats.cpp.
struct Format {
  std::string_view name;
  std::string_view what;                                // one line for --help
  bool (*found_at)(const std::filesystem::path& path);  // looks, cheaply
  std::unique_ptr<Source> (*open)(const std::filesystem::path& path, const OpenOptions& options);
};

std::span<const Format> formats();

// Opens `path` by options.format, or by the first format that finds itself there. Throws UsageError
// when there is nothing at `path`, no format fits or the name is unknown (naming the known ones),
// when there are no inputs, or a class is empty.
std::unique_ptr<Source> open_source(const std::filesystem::path& path, const OpenOptions& options);

}  // namespace winnow::datasets
