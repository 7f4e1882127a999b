#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "app/session.h"
#include "datasets/source.h"
#include "pipeline/ingest/ingest.h"

namespace winnow::app {

// How images and labels are read, as given in the options.
struct SourceWords {
  std::string labels = "auto";
  std::string links = "follow";
  std::string orientation = "ignore";
  std::string matte = "none";
};

// How images are stored, as given in the options.
struct StoreWords {
  std::string store = "original";
  std::string thumbnails = "on";
  std::string augment;     // augmentation recipe; empty: images are stored unchanged
  std::string image_size;  // size of stored pixels: "224" or "HxW"
  std::uint64_t shard_mib = 256;
};

// Options of an ingest: how sources are read, what is stored, and which resources are used.
struct ReadingOptions {
  datasets::OpenOptions open;
  SourceWords source;
  StoreWords stored;
  pipeline::IngestOptions ingest;
  std::uint64_t memory_mib = 0;
  std::set<std::string> given = {};  // options the user gave, among kKeptByCache and --memory-limit
};

datasets::OpenOptions open_options(const ReadingOptions& flags);
// Converts the options, and adds the threads and the request to stop of `session`. Throws
// UsageError for an impossible value.
pipeline::IngestOptions ingest_options(const ReadingOptions& flags, const Session& session);
// Options whose values a cache stores. They apply to data sets that are added later, unless given
// anew.
inline constexpr std::array kKeptByCache{
    "--store",      "--augment",   "--hash",        "--thumbnails", "--shard-size",
    "--max-pixels", "--max-scans", "--orientation", "--matte",      "--resize"};
// Options for adding to a cache: those of kKeptByCache that were not given are taken from the
// cache.
pipeline::IngestOptions options_to_add(const ReadingOptions& flags, const pipeline::Manifest& cache,
                                       const Session& session);

struct Sides {
  int height_px = 0;
  int width_px = 0;
};
// Parses the size of an image, "224" or "HxW"; nullopt for any other text.
std::optional<Sides> parse_sides(std::string_view text);

// Stored augmented variants in words: "pixels of 64 x 64 px, 4 variants of each training image by
// recipe cifar, seed 0". Empty if images are stored unchanged.
std::string in_words(const pipeline::VariantSettings& variants);

}  // namespace winnow::app
