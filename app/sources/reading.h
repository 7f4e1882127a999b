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

// How images and labels are read, in the words of the flags.
struct SourceWords {
  std::string labels = "auto";
  std::string links = "follow";
  std::string orientation = "ignore";
  std::string matte = "none";
};

// How images are stored, in the words of the flags.
struct StoreWords {
  std::string store = "original";
  std::string thumbnails = "on";
  std::string augment;     // a recipe; empty: images are stored unchanged
  std::string image_size;  // "224" or "HxW"
  std::uint64_t shard_mib = 256;
};

// Options of an ingest: how sources are read, what is stored, and which resources are used.
struct ReadingOptions {
  datasets::OpenOptions open;
  SourceWords source;
  StoreWords stored;
  pipeline::IngestOptions ingest;
  std::uint64_t memory_mib = 0;
  std::set<std::string> given = {};  // flags that were given, among kKeptByCache and --memory-limit
};

datasets::OpenOptions open_options(const ReadingOptions& flags);
// With threads and stop of `session`. Throws UsageError for an impossible value.
pipeline::IngestOptions ingest_options(const ReadingOptions& flags, const Session& session);
// Flags whose values a cache stores. They apply to what is added later, unless given.
inline constexpr std::array kKeptByCache{
    "--store",      "--augment",   "--hash",        "--thumbnails", "--shard-size",
    "--max-pixels", "--max-scans", "--orientation", "--matte",      "--resize"};
// Options for adding to a cache: flags of its content that were not given are as for the cache.
pipeline::IngestOptions options_to_add(const ReadingOptions& flags, const pipeline::Manifest& cache,
                                       const Session& session);

struct Sides {
  int height_px = 0;
  int width_px = 0;
};
// "224" or "HxW"; nullopt for any other text.
std::optional<Sides> parse_sides(std::string_view text);

// "pixels of 64 x 64 px, 4 variants of each training image by recipe cifar, seed 0"; empty if
// images are stored unchanged.
std::string in_words(const pipeline::VariantSettings& variants);

}  // namespace winnow::app
