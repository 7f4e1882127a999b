#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/counted.h"
#include "pipeline/store/statistics.h"

namespace winnow::app {

// The last part of a path, even if the path ends in a slash: "cache" for "../cache/".
std::string name_of_folder(const std::filesystem::path& path);

// Numbers formatted for people, in addition to those of common/counted.h.
std::string percent(double share);                // "93.21 %"
std::string in_bytes(std::uint64_t bytes);        // "512 B", "1.5 KiB", "244 MiB"
std::string in_seconds(double seconds);           // "0.42 s", "12 s", "3 min 20 s", "2 h 5 min"
std::string in_megapixels(std::uint64_t pixels);  // "0.19"

// The short sides of images in one bucket of the histogram of Statistics, in pixels, both ends
// included: "256-361".
std::string short_side_range(int bucket);
std::string pixels_range(int bucket);      // size of images in megapixels: "0.13-0.26"
std::string aspect_range(int bucket);      // width / height of images: "0.92-1.09"
std::string file_bytes_range(int bucket);  // size of image files: "64-128 KiB"

// Numbers of images per class, all splits together.
struct Balance {
  std::uint64_t classes = 0;  // number of classes with at least one image
  std::uint64_t least = 0;    // images of the smallest of these classes
  std::uint64_t most = 0;     // images of the largest class
  std::uint64_t without = 0;  // number of classes of the manifest without a readable image
};
std::vector<std::uint64_t> images_by_class(const pipeline::Statistics& statistics);
Balance balance_of(const std::vector<std::uint64_t>& images_by_class);
std::string in_words(const Balance& balance);  // "12 to 40 images a class, none in 2"

}  // namespace winnow::app
