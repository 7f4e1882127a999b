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

// How names become splits, classes and labels: the rules that image_folder.h states, for whatever
// holds named files. Pure functions; safe from many threads.

// What is there. Names are relative, '/' between parts.
struct NamedFiles {
  NameColumn files;                  // images, in the order of the listing
  std::vector<std::uint64_t> bytes;  // of each file
  std::vector<std::string> folders;  // sorted; of depth 1 and 2, with images or without
  // "" or "photos/2020/": what all names begin with, and splits and classes are looked for behind.
  std::string wrapper = {};
};

struct Layout {
  Listing entries;
  std::vector<std::string> class_names;
  std::string description;
  std::vector<std::size_t> left_out;  // ascending positions in `files` of what is in no entry
  std::vector<Skipped> skipped;       // the same, counted
};

struct Place {
  std::string path;  // for messages
  std::string kind;  // begins the description
};

// Throws UsageError where image_folder.h says so.
Layout lay_out(const Place& place, const NamedFiles& files, const OpenOptions& options);

// By the name's ending, in any case and blanks behind it left off: torchvision's, others of formats
// that are read, and those of image formats that are not read, which must not be lost without a
// word.
bool is_image_name(std::string_view name);

// Whether a name has no ending, so that what it is called says nothing of what it is.
bool has_no_ending(std::string_view name) noexcept;

// For one part of a path: hidden, or added by a NAS or an operating system.
bool is_passed_over(std::string_view name);

// The split that one of the words of a file's name stands for, as in "imagenet-train-000001";
// words end at '-', '_', '.' and ' '. The first that does counts.
std::optional<Split> split_in_stem(std::string_view name);

// "1 class", "2 classes".
std::string count_of(std::size_t count, const std::string& one, const std::string& many);

}  // namespace winnow::datasets
