#include "tools/ingest_flags.h"

#include <fmt/core.h>

#include "datasets/formats.h"
#include "dedup/hash/hashes.h"
#include "tools/numbers.h"
#include "train/nets/nets.h"

namespace winnow::tools {

void add_reading_flags(Verb whole, ReadingOptions& flags, const std::string& format) {
  const Verb verb = whole.titled("Reading images");
  verb.add_option(format, flags.open.format, "Format of the source; auto looks").show_default();
  verb.add_option("--labels", flags.source.labels,
                  "Labels of the source. auto: those it has; folder: the names of its folders")
      .one_of({"auto", "folder", "none"})
      .show_default();
  verb.add_flag("--allow-empty", flags.open.allow_empty_classes,
                "Accept class folders without images");
  verb.add_flag("--hidden", flags.open.hidden,
                "Also read files and folders whose names begin with a dot");
  verb.add_flag(
      "--system", flags.open.system,
      "Also read folders that a NAS or an operating system adds, such as @eaDir and #recycle");
  verb.add_option("--links", flags.source.links,
                  "Symbolic links in folders: follow them, each circle once, or skip them")
      .one_of({"follow", "skip"})
      .show_default();
  verb.add_option(
          "--exclude", flags.open.exclude,
          "Leave out files and folders whose name or relative path matches this glob; repeatable")
      .repeatable();
  verb.add_option("--max-pixels", flags.ingest.decode.max_pixels,
                  "Largest number of pixels of an image; larger images are recorded as too large")
      .check(whole_in(1, std::int64_t{1} << 40))
      .show_default();
  verb.add_option("--max-scans", flags.ingest.decode.max_scans,
                  "Largest number of scans of a JPEG; JPEGs with more are recorded as too large")
      .check(whole_in(1, kMostCount))
      .show_default();
  verb.add_option("--orientation", flags.source.orientation,
                  "EXIF orientation: ignore it, as torchvision does, or apply it")
      .one_of({"ignore", "apply"})
      .show_default();
  verb.add_option("--matte", flags.source.matte,
                  "Background of transparent pixels: white, black or #rrggbb; none drops alpha")
      .show_default();
  whole.add_option("--threads", flags.ingest.work.threads, "Number of CPU cores; 0: all available")
      .check(cores())
      .show_default();
}

void add_hashes_flag(Verb verb, ReadingOptions& flags) {
  verb.add_option("--hash", flags.ingest.hashes,
                  "Perceptual hashes to compute. With a scale, the same for all (@1/2, @1/4 or "
                  "@1/8, such as phash@1/8), pictures are decoded at that scale")
      .delimiter(',')
      .show_default();
}

void add_ingest_flags(Verb whole, ReadingOptions& flags) {
  const Verb verb = whole.titled("What is stored");
  add_reading_flags(whole, flags);
  add_hashes_flag(whole, flags);
  verb.add_option("--thumbnails", flags.stored.thumbnails,
                  "Store a small gray picture of each image, of at most 3 KB, next to its "
                  "fingerprints: on or off")
      .one_of({"on", "off"})
      .show_default();
  const Flag store =
      verb.add_option("--store", flags.stored.store,
                      "What shards hold: the original bytes, raw pixels, or none (fingerprints "
                      "only)")
          .one_of({"original", "raw", "none"})
          .show_default();
  verb.add_option("--shard-size", flags.stored.shard_mib, "Size of a shard, in MiB of input")
      .check(whole_in(1, kMostMib))
      .show_default();
  whole
      .add_option("--memory-limit", flags.memory_mib,
                  "Limit for decoded images in memory: 8G, 512M or a number of MiB; 0: 128 MiB "
                  "plus 128 MiB per core")
      .in_mib()
      .check(whole_in(0, kMostMib))
      .show_default();
  const Flag resize =
      verb.add_option("--resize", flags.ingest.resize.short_side_px,
                      "Shrink images whose shorter side is longer than this many pixels to this "
                      "length, and store them as JPEG; fingerprints are computed before that")
          .check(whole_in(1, train::kMostSidePx));
  verb.add_option("--quality", flags.ingest.resize.quality, "Quality of the JPEGs of --resize")
      .check(whole_in(1, 100))
      .show_default()
      .needs(resize);
  const Flag augment =
      verb.add_option("--augment", flags.stored.augment,
                      "Store pixels of one size, which training need not decode: --copies variants "
                      "of each training image, augmented by this recipe (see train --help), and "
                      "each other image once, unaugmented")
          .excludes(store)
          .excludes(resize);
  verb.add_option("--copies", flags.ingest.variants.copies,
                  "Number of variants of a training image; each epoch uses another one")
      .check(whole_in(1, 65'535))
      .needs(augment);
  verb.add_option("--image-size", flags.stored.image_size,
                  "Size of what --augment stores: a side in pixels, or HxW")
      .needs(augment);
  verb.add_option("--augment-seed", flags.ingest.variants.seed, "Seed of the variants")
      .check(seeds())
      .show_default()
      .needs(augment);
  whole
      .add_option("--readers", flags.ingest.work.readers,
                  "Largest number of threads that read; the actual number adapts to the storage")
      .check(whole_in(1, 4096))
      .show_default();
}

std::string hash_lines() {
  std::string lines;
  for (const dedup::HashKind& hash : dedup::hash_kinds()) {
    lines += fmt::format("\n  {:18}{}", hash.name(), hash.what());
  }
  lines +=
      "\n  NAME@1/8          of the picture at an eighth of its sides, also @1/2 and @1/4: bits "
      "are "
      "others, so that codes compare with their own kind only";
  return lines;
}

std::string format_lines() {
  std::string lines;
  for (const datasets::Format& f : datasets::formats()) {
    lines += fmt::format("\n  {:14}{}", f.name, f.what);
  }
  return lines;
}

std::string skipped_lines() {
  return R"(

In folders and tar archives, files count as images by their extensions, readable or not (.heic,
.gif and others that cannot be read are recorded as unsupported, with advice). Skipped and counted:
other files; hidden ones (--hidden takes them); @eaDir, #recycle, #snapshot, .snapshot, .zfs,
@Recycle, @Recently-Snapshot, $RECYCLE.BIN, System Volume Information, lost+found, __MACOSX,
.Trash-*, .thumbnails, Thumbs.db, .DS_Store, ._* (--system takes them); links with --links skip,
and those that lead in a circle; pipes, sockets and devices; what --exclude names.)";
}

}  // namespace winnow::tools
