#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/sample.h"
#include "datasets/listing.h"
#include "datasets/source.h"

namespace winnow::datasets {

// The rules of image_folder.h by which names become splits, classes and labels, for anything with
// named files. Pure functions; thread-safe.

// The input. Names are relative, with '/' between parts.
struct NamedFiles {
  NameColumn files;                  // images, in the order of the listing
  std::vector<std::uint64_t> bytes;  // size of each file
  std::vector<std::string> folders;  // sorted; of depth 1 and 2, with or without images
  // Common prefix of all names, before splits and classes: "" or "photos/2020/".
  std::string wrapper = {};
};

struct Layout {
  Listing entries;
  std::vector<std::string> class_names;
  std::string description;
  std::vector<std::size_t> left_out;  // ascending positions in `files` of files without an entry
  std::vector<Skipped> skipped;       // the same, counted by reason
};

struct Place {
  std::string path;  // for messages
  std::string kind;  // beginning of the description
};

// Errors  UsageError as in image_folder.h.
Layout lay_out(const Place& place, const NamedFiles& files, const OpenOptions& options);

// Whether the ending of a name means an image, ignoring case and trailing blanks. Covers
// torchvision's list, other formats that can be read, and image formats that cannot: these must not
// be lost silently.
bool is_image_name(std::string_view name);

// Whether a name has no ending, and therefore says nothing about the content.
bool has_no_ending(std::string_view name) noexcept;

// Whether one part of a path is hidden, or was added by a NAS or an operating system.
bool is_passed_over(std::string_view name);

// The split that a word of a file name denotes, as in "imagenet-train-000001". Words end at '-',
// '_', '.' and ' '. The first one counts.
std::optional<Split> split_in_stem(std::string_view name);

}  // namespace winnow::datasets
