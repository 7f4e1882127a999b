#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "datasets/source.h"
#include "pipeline/ingest/ingest.h"
#include "tools/command.h"
#include "tools/flags/flags.h"

namespace winnow::tools {

// The options of an ingest that say how sources are read, what is stored of them and with how much
// of the machine.
struct IngestFlags {
  datasets::OpenOptions open;
  std::string labels = "auto";
  std::string links = "follow";
  std::string store = "original";
  std::string orientation = "ignore";
  std::string matte = "none";
  std::string thumbnails = "on";
  std::string augment;     // recipe; empty: what is stored are the images
  std::string image_size;  // "224" or "HxW"
  pipeline::IngestOptions ingest;
  std::uint64_t shard_mib = 256;
  std::uint64_t memory_mib = 0;
};

// `flags` must live as long as `verb`. Those of every verb that decodes a source, the hashes that
// it is to compute, and those of every verb that ingests, the others with them.
void add_reading_flags(Verb verb, IngestFlags& flags);
void add_hashes_flag(Verb verb, IngestFlags& flags);
void add_ingest_flags(Verb verb, IngestFlags& flags);

datasets::OpenOptions open_options(const IngestFlags& flags);
// With the number of threads and the stop of `session`. UsageError where a value cannot be one.
pipeline::IngestOptions ingest_options(const IngestFlags& flags, const Session& session);
// To add to a cache: what `verb` was not told of its content is as the cache was made.
pipeline::IngestOptions options_to_add(const IngestFlags& flags, Verb verb,
                                       const pipeline::Manifest& cache, const Session& session);

struct Sides {
  int height_px = 0;
  int width_px = 0;
};
// "224" or "HxW"; nothing for another text.
std::optional<Sides> parse_sides(std::string_view text);

// "pixels of 64 x 64 px, 4 variants of each training image by recipe cifar, seed 0"; empty where
// images are stored as they are.
std::string in_words(const pipeline::VariantSettings& variants);

// For a footer: "\n  NAME  WHAT" of each format and each hash, and what of folders is passed over.
std::string format_lines();
std::string hash_lines();
std::string passed_over_lines();

}  // namespace winnow::tools
