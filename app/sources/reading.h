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

// How pictures and their labels are taken, as people say it.
struct SourceWords {
  std::string labels = "auto";
  std::string links = "follow";
  std::string orientation = "ignore";
  std::string matte = "none";
};

// What is stored of them, as people say it.
struct StoreWords {
  std::string store = "original";
  std::string thumbnails = "on";
  std::string augment;     // recipe; empty: what is stored are the images
  std::string image_size;  // "224" or "HxW"
  std::uint64_t shard_mib = 256;
};

// The options of an ingest that say how sources are read, what is stored of them and with how much
// of the machine.
struct ReadingOptions {
  datasets::OpenOptions open;
  SourceWords source;
  StoreWords stored;
  pipeline::IngestOptions ingest;
  std::uint64_t memory_mib = 0;
  std::set<std::string> given = {};  // of kKeptByCache and --memory-limit, the flags that were said
};

datasets::OpenOptions open_options(const ReadingOptions& flags);
// With the number of threads and the stop of `session`. UsageError where a value cannot be one.
pipeline::IngestOptions ingest_options(const ReadingOptions& flags, const Session& session);
// Flags whose values a cache keeps, so that what is added to it has them unless they are said.
inline constexpr std::array kKeptByCache{
    "--store",      "--augment",   "--hash",        "--thumbnails", "--shard-size",
    "--max-pixels", "--max-scans", "--orientation", "--matte",      "--resize"};
// To add to a cache: what was not said of its content is as the cache was made.
pipeline::IngestOptions options_to_add(const ReadingOptions& flags, const pipeline::Manifest& cache,
                                       const Session& session);

struct Sides {
  int height_px = 0;
  int width_px = 0;
};
// "224" or "HxW"; nothing for another text.
std::optional<Sides> parse_sides(std::string_view text);

// "pixels of 64 x 64 px, 4 variants of each training image by recipe cifar, seed 0"; empty where
// images are stored as they are.
std::string in_words(const pipeline::VariantSettings& variants);

}  // namespace winnow::app
