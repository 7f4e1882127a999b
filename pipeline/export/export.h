#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/progress.h"
#include "common/sample.h"
#include "common/stop.h"
#include "pipeline/export/source_files.h"
#include "pipeline/store/cache.h"

namespace winnow::pipeline {

enum class ExportAs { kImageFolder, kTree, kWebDataset, kList };

// The original files, where they still have the same bytes.
struct FromSource {
  std::vector<std::filesystem::path> folders;  // one for each source of the cache, or empty
  Link link = Link::kNone;                     // make links to these files instead of copies
};

struct ExportOptions {
  ExportAs as = ExportAs::kImageFolder;
  std::string selection;       // export only what it keeps; empty: everything
  std::optional<Split> split;  // export only this one
  std::uint64_t shard_bytes = std::uint64_t{256}
                              << 20;  // size of a tar shard, unless a single sample is larger
  FromSource source;
  std::filesystem::path removed_to;  // a tree of what the selection removes; empty: none
  int threads = 0;                   // 0: TBB's default
  StopRequested stop;
};

struct ExportResult {
  std::uint64_t samples = 0;   // written or listed
  std::uint64_t left_out = 0;  // removed by the selection; kList lists them all the same
  std::uint64_t files = 0;     // all that were made, including links
  std::uint64_t bytes = 0;     // size of these files; links count 0
  std::uint64_t linked = 0;
  // With links: samples copied instead, because their file is missing or has other bytes. Names of
  // the first few.
  std::uint64_t copied = 0;
  std::vector<std::string> first_copied;
  double seconds = 0;
};

// UsageError unless an export may be placed at `to` and `options.removed_to`. Checked before
// anything is read.
void check_destinations(const std::filesystem::path& to, const ExportOptions& options);

// Exports a cache for other programs, in id order, with the same bytes every time. Of a sample with
// variants, the first.
//
// kImageFolder  TO/SPLIT/CLASS/NAME: encoded images as stored, pixels as PNG. NAME is the last part
//               of the sample's name (names.h). Unlabelled samples are in TO/SPLIT. If there is
//               only one split, SPLIT is left out, unless that would be read differently: labelled
//               and unlabelled samples, or a class named like a split.
// kTree         TO/PATH: the original files, byte for byte, under their paths in the source
//               (names.h); TO/SOURCE/PATH with several sources. Bytes come from the source, checked
//               against the ingested hash, or from a cache that keeps files. What the selection
//               removes goes to `removed_to` likewise, which is put in place before TO.
// kWebDataset   TO/SPLIT-000000.tar ...: ID.jpg (.png ...), ID.cls if there is one label, and
//               ID.json with "id", "name", "label" and "class"; TO/classnames.txt.
// kList         TO is a CSV of id, name, split, class, kept, why, kept_name; no images.
//
// Atomic   Everything is made beside `to` and renamed at the end, durably. An interrupted export
//          leaves nothing at `to`; the next one removes its remains. Sources are only read.
// Errors   UsageError: something exists at `to` (an empty folder is allowed); the cache has no
//          images, or none are left; kImageFolder with several labels; kTree with a file that is
//          gone or changed and not kept in the cache; links are impossible (a cache of pixels,
//          sources that are no files, another file system). FormatError names the sample with a
//          damaged record. StoppedError.
ExportResult export_cache(const Cache& cache, const std::filesystem::path& to,
                          const ExportOptions& options, const ProgressSink& progress = {});

}  // namespace winnow::pipeline
