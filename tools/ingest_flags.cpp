#include "tools/ingest_flags.h"

#include <fmt/core.h>

#include <charconv>
#include <map>
#include <optional>
#include <string_view>

#include "common/error.h"
#include "datasets/formats.h"
#include "dedup/hash/hashes.h"
#include "tools/flags/flags.h"
#include "tools/numbers.h"
#include "train/nets/nets.h"

namespace winnow::tools {
namespace {

void set_variants(const IngestFlags& flags, pipeline::IngestOptions& options) {
  const std::optional<Sides> sides = parse_sides(flags.image_size);
  if (!sides) {
    throw UsageError(flags.image_size.empty()
                         ? "--augment needs --image-size, the size that is stored: 224, or HxW"
                         : "--image-size " + flags.image_size +
                               " is no size; give a side in pixels, such as 224, or HxW");
  }
  if (options.variants.copies == 0) options.variants.copies = 1;
  options.variants.recipe = pipeline::parse_recipe(flags.augment);
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

void add_reading_flags(Verb verb, IngestFlags& flags) {
  verb.add_option("--format", flags.open.format, "Format of the source; auto looks").show_default();
  verb.add_option(
          "--labels", flags.labels,
          "Labels of the source: auto takes those it has, folder those of its folders' names")
      .one_of({"auto", "folder", "none"})
      .show_default();
  verb.add_flag("--allow-empty", flags.open.allow_empty_classes,
                "Accept class folders without images");
  verb.add_flag("--hidden", flags.open.hidden,
                "Take files and folders whose names begin with a dot too");
  verb.add_flag("--system", flags.open.system,
                "Take what a NAS or an operating system adds too, such as @eaDir and #recycle");
  verb.add_option("--links", flags.links,
                  "Symbolic links in folders: follow them, each circle once, or skip them")
      .one_of({"follow", "skip"})
      .show_default();
  verb.add_option("--exclude", flags.open.exclude,
                  "Leave out what fits a glob, by its name or its whole relative path; repeatable")
      .repeatable();
  verb.add_option("--max-pixels", flags.ingest.decode.max_pixels,
                  "Larger images are booked as too large")
      .check(whole_in(1, std::int64_t{1} << 40))
      .show_default();
  verb.add_option("--max-scans", flags.ingest.decode.max_scans,
                  "JPEGs of more scans are booked as too large")
      .check(whole_in(1, kMostCount))
      .show_default();
  verb.add_option("--orientation", flags.orientation,
                  "EXIF orientation: ignore it, as torchvision does, or apply it")
      .one_of({"ignore", "apply"})
      .show_default();
  verb.add_option(
          "--matte", flags.matte,
          "What transparent pixels are laid upon: white, black or #rrggbb; none drops alpha")
      .show_default();
  verb.add_option("--threads", flags.ingest.work.threads, "Cores to use; 0: all this process may")
      .check(cores())
      .show_default();
}

void add_hashes_flag(Verb verb, IngestFlags& flags) {
  verb.add_option("--hash", flags.ingest.hashes,
                  "Perceptual hashes to compute; all @1/2, @1/4 or @1/8, as phash@1/8: of pictures "
                  "decoded at that scale")
      .delimiter(',')
      .show_default();
}

void add_ingest_flags(Verb verb, IngestFlags& flags) {
  add_reading_flags(verb, flags);
  add_hashes_flag(verb, flags);
  verb.add_option(
          "--thumbnails", flags.thumbnails,
          "Keep a small gray picture of each image beside its fingerprints, of 3 KB at most: "
          "on or off")
      .one_of({"on", "off"})
      .show_default();
  const Flag store =
      verb.add_option("--store", flags.store,
                      "What shards hold: the original bytes, raw pixels, or none (fingerprints "
                      "only)")
          .one_of({"original", "raw", "none"})
          .show_default();
  verb.add_option("--shard-size", flags.shard_mib, "MiB of input a shard is cut at")
      .check(whole_in(1, kMostMib))
      .show_default();
  verb.add_option("--memory-limit", flags.memory_mib,
                  "MiB of images in flight at most; 0: 128, and as much a core")
      .check(whole_in(0, kMostMib))
      .show_default();
  const Flag resize =
      verb.add_option("--resize", flags.ingest.resize.short_side_px,
                      "Store images whose shorter side is longer than this many pixels with one of "
                      "this length, encoded as JPEG; fingerprints are of all pixels")
          .check(whole_in(1, train::kMostSidePx));
  verb.add_option("--quality", flags.ingest.resize.quality, "Quality of the JPEGs of --resize")
      .check(whole_in(1, 100))
      .show_default()
      .needs(resize);
  const Flag augment =
      verb.add_option("--augment", flags.augment,
                      "Store pixels of one size that training need not decode: of each training "
                      "image --copies variants, by this recipe (as in train --help), of other "
                      "images one, without")
          .excludes(store)
          .excludes(resize);
  verb.add_option("--copies", flags.ingest.variants.copies,
                  "Variants of a training image; so many epochs see each of them once")
      .check(whole_in(1, 65'535))
      .needs(augment);
  verb.add_option("--image-size", flags.image_size,
                  "Size of what --augment stores: a side in pixels, or HxW")
      .needs(augment);
  verb.add_option("--augment-seed", flags.ingest.variants.seed, "Seed of the variants")
      .check(seeds())
      .show_default()
      .needs(augment);
  verb.add_option("--readers", flags.ingest.work.readers,
                  "Threads that read, at most: there are as many as storage needs to keep up")
      .check(whole_in(1, 4096))
      .show_default();
}

datasets::OpenOptions open_options(const IngestFlags& flags) {
  const std::map<std::string, datasets::LabelsFrom> labels{
      {"auto", datasets::LabelsFrom::kAuto},
      {"folder", datasets::LabelsFrom::kFolder},
      {"none", datasets::LabelsFrom::kNone}};
  datasets::OpenOptions open = flags.open;
  open.labels = labels.at(flags.labels);
  open.follow_links = flags.links == "follow";
  return open;
}

pipeline::IngestOptions ingest_options(const IngestFlags& flags, const Session& session) {
  const std::map<std::string, pipeline::Store> stores{{"original", pipeline::Store::kOriginal},
                                                      {"raw", pipeline::Store::kRaw},
                                                      {"none", pipeline::Store::kNone}};
  pipeline::IngestOptions options = flags.ingest;
  options.store = stores.at(flags.store);
  options.decode.orientation = pipeline::parse_orientation(flags.orientation).value();
  if (flags.matte != "none") {
    options.decode.matte = pipeline::parse_matte(flags.matte);
    if (!options.decode.matte) {
      throw UsageError("--matte " + flags.matte +
                       " is no colour; give none, white, black or #rrggbb, such as #ffffff");
    }
  }
  options.target.thumbnails = flags.thumbnails == "on";
  if (!flags.augment.empty()) set_variants(flags, options);
  options.shard_bytes = flags.shard_mib << 20;
  options.work.memory_bytes = flags.memory_mib << 20;
  options.work.stop = session.stop;
  options.work.threads = thread_plan(session, flags.ingest.work.threads).decode;
  return options;
}

pipeline::IngestOptions options_to_add(const IngestFlags& flags, Verb verb,
                                       const pipeline::Manifest& cache, const Session& session) {
  const pipeline::IngestOptions given = ingest_options(flags, session);
  const pipeline::IngestOptions made = pipeline::options_of(cache);
  const auto is_given = [&](const char* name) { return verb.given(name); };
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

std::string hash_lines() {
  std::string lines;
  for (const dedup::HashKind& hash : dedup::hash_kinds()) {
    lines += fmt::format("\n  {:18}{}", hash.name(), hash.what());
  }
  lines +=
      "\n  NAME@1/8          of the picture at an eighth of its sides, also @1/2 and @1/4: bits "
      "are\n"
      "                    others, so that codes compare with their own kind only";
  return lines;
}

std::string format_lines() {
  std::string lines;
  for (const datasets::Format& f : datasets::formats()) {
    lines += fmt::format("\n  {:14}{}", f.name, f.what);
  }
  return lines;
}

std::string passed_over_lines() {
  return "\n\nOf folders and tar archives, files count as images by their endings, read or not "
         "(.heic, .gif\n"
         "and others that are not read are booked as unsupported, with advice). Passed over, and "
         "counted:\n"
         "other files; hidden ones (--hidden takes them); @eaDir, #recycle, #snapshot, .snapshot, "
         ".zfs,\n"
         "@Recycle, @Recently-Snapshot, $RECYCLE.BIN, System Volume Information, lost+found, "
         "__MACOSX,\n"
         ".Trash-*, .thumbnails, Thumbs.db, .DS_Store, ._* (--system takes them); links with "
         "--links skip\n"
         "and those that lead in a circle; pipes, sockets and devices; what --exclude names.";
}

}  // namespace winnow::tools
