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

// Derives splits, classes and labels from the names of files by the rules of image_folder.h: for
// folders, archives and anything else with named files. Pure functions; thread-safe.

// The input of lay_out(): names relative to the root, with '/' between parts.
struct NamedFiles {
  NameColumn files;                  // names of images, in the order of the listing
  std::vector<std::uint64_t> bytes;  // size of each file
  std::vector<std::string> folders;  // sorted; folders of depth 1 and 2, with or without images
  // Common beginning of all names, before splits and classes: "" or "photos/2020/".
  std::string wrapper = {};
};

struct Layout {
  Listing entries;
  std::vector<std::string> class_names;
  std::string description;
  std::vector<std::size_t> left_out;  // positions in NamedFiles::files of files left out, ascending
  std::vector<Skipped> skipped;       // numbers of files left out, by reason
};

struct Place {
  std::string path;  // for messages
  std::string kind;  // beginning of the description
};

// Derives the listing and the classes from names of files.
// Errors  UsageError as in image_folder.h.
Layout lay_out(const Place& place, const NamedFiles& files, const OpenOptions& options);

// Whether a name ends like that of an image, ignoring case and trailing blanks. Covers
// torchvision's list, other formats that can be read, and image formats that cannot: these must not
// be lost silently.
bool is_image_name(std::string_view name);

// Whether a name has no ending, so that it says nothing about the content.
bool has_no_ending(std::string_view name) noexcept;

// Whether a name of a file or folder is hidden (begins with a dot), or is one that a NAS or an
// operating system adds.
bool is_passed_over(std::string_view name);

// The split that a word of a file name stands for, as in "imagenet-train-000001"; nullopt if none
// does. Words end at '-', '_', '.' and ' '. The first one that names a split counts.
std::optional<Split> split_in_stem(std::string_view name);

}  // namespace winnow::datasets
