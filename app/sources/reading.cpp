#include "app/sources/reading.h"

#include <fmt/core.h>

#include <charconv>
#include <map>

#include "common/error.h"

namespace winnow::app {
namespace {

void set_variants(const ReadingOptions& flags, pipeline::IngestOptions& options) {
  const std::optional<Sides> sides = parse_sides(flags.stored.image_size);
  if (!sides) {
    throw UsageError(flags.stored.image_size.empty()
                         ? "--augment needs --image-size, the size that is stored: 224, or HxW"
                         : "--image-size " + flags.stored.image_size +
                               " is not a size; give a side in pixels, such as 224, or HxW");
  }
  if (options.variants.copies == 0) options.variants.copies = 1;
  options.variants.recipe = pipeline::parse_recipe(flags.stored.augment);
  options.variants.height_px = sides->height_px;
  options.variants.width_px = sides->width_px;
  options.store = pipeline::Store::kRaw;
}

}  // namespace

std::optional<Sides> parse_sides(std::string_view text) {
  const auto number = [](std::string_view digits) {
    int value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && end == digits.data() + digits.size() ? value : 0;
  };
  const std::size_t x = text.find('x');
  const int height = number(text.substr(0, x));
  const int width = x == std::string_view::npos ? height : number(text.substr(x + 1));
  if (height < 1 || width < 1) return std::nullopt;
  return Sides{height, width};
}

datasets::OpenOptions open_options(const ReadingOptions& flags) {
  const std::map<std::string, datasets::LabelsFrom> labels{
      {"auto", datasets::LabelsFrom::kAuto},
      {"folder", datasets::LabelsFrom::kFolder},
      {"none", datasets::LabelsFrom::kNone}};
  datasets::OpenOptions open = flags.open;
  open.labels = labels.at(flags.source.labels);
  open.follow_links = flags.source.links == "follow";
  return open;
}

pipeline::IngestOptions ingest_options(const ReadingOptions& flags, const Session& session) {
  const std::map<std::string, pipeline::Store> stores{{"original", pipeline::Store::kOriginal},
                                                      {"raw", pipeline::Store::kRaw},
                                                      {"none", pipeline::Store::kNone}};
  pipeline::IngestOptions options = flags.ingest;
  options.store = stores.at(flags.stored.store);
  options.decode.orientation = pipeline::parse_orientation(flags.source.orientation).value();
  if (flags.source.matte != "none") {
    options.decode.matte = pipeline::parse_matte(flags.source.matte);
    if (!options.decode.matte) {
      throw UsageError("--matte " + flags.source.matte +
                       " is not a colour; give none, white, black or #rrggbb, such as #ffffff");
    }
  }
  options.target.thumbnails = flags.stored.thumbnails == "on";
  if (!flags.stored.augment.empty()) set_variants(flags, options);
  options.shard_bytes = flags.stored.shard_mib << 20;
  options.work.memory_bytes = flags.memory_mib << 20;
  options.work.stop = session.stop;
  options.work.threads = thread_plan(session, flags.ingest.work.threads).decode;
  return options;
}

pipeline::IngestOptions options_to_add(const ReadingOptions& flags, const pipeline::Manifest& cache,
                                       const Session& session) {
  const pipeline::IngestOptions given = ingest_options(flags, session);
  const pipeline::IngestOptions made = pipeline::options_of(cache);
  const auto is_given = [&](const char* name) { return flags.given.contains(name); };
  pipeline::IngestOptions options = given;
  options.target.into = true;
  if (!is_given("--store") && !is_given("--augment")) options.store = made.store;
  if (!is_given("--hash")) options.hashes = made.hashes;
  if (!is_given("--thumbnails")) options.target.thumbnails = made.target.thumbnails;
  if (!is_given("--shard-size")) options.shard_bytes = made.shard_bytes;
  if (!is_given("--max-pixels")) options.decode.max_pixels = made.decode.max_pixels;
  if (!is_given("--max-scans")) options.decode.max_scans = made.decode.max_scans;
  if (!is_given("--orientation")) options.decode.orientation = made.decode.orientation;
  if (!is_given("--matte")) options.decode.matte = made.decode.matte;
  if (!is_given("--resize")) options.resize = made.resize;
  if (!is_given("--augment")) options.variants = made.variants;
  return options;
}

std::string in_words(const pipeline::VariantSettings& variants) {
  if (variants.copies == 0) return "";
  const std::string size = fmt::format("{} x {} px", variants.width_px, variants.height_px);
  if (variants.recipe == pipeline::Recipe::kNone) return "pixels of " + size;
  return fmt::format("pixels of {}, {} variants of each training image by recipe {}, seed {}", size,
                     variants.copies, pipeline::recipe_name(variants.recipe), variants.seed);
}

}  // namespace winnow::app
