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

// The files that were ingested, where they still have the same bytes.
struct FromSource {
  std::vector<std::filesystem::path> folders;  // one for each source of the cache, or none
  Link link = Link::kNone;                     // links to these files instead of copies
};

struct ExportOptions {
  ExportAs as = ExportAs::kImageFolder;
  std::string selection;       // only what it keeps; empty: everything
  std::optional<Split> split;  // only this one
  std::uint64_t shard_bytes = std::uint64_t{256}
                              << 20;  // of a tar shard, unless one sample is more
  FromSource source;
  std::filesystem::path removed_to;  // a tree of what the selection removes; empty: none
  int threads = 0;                   // 0: what TBB has
  StopRequested stop;
};

struct ExportResult {
  std::uint64_t samples = 0;   // written, or listed
  std::uint64_t left_out = 0;  // removed by the selection; with kList they are listed all the same
  std::uint64_t files = 0;     // of all that was made, links among them
  std::uint64_t bytes = 0;     // of these files; links take none
  std::uint64_t linked = 0;
  // With links: what is a copy all the same, since its file is not there any more or has other
  // bytes. The first few by name.
  std::uint64_t copied = 0;
  std::vector<std::string> first_copied;
  double seconds = 0;
};

// UsageError unless an export may be put at `to` and `options.removed_to`: seen before anything is
// read.
void check_destinations(const std::filesystem::path& to, const ExportOptions& options);

// Writes what a cache holds where other programs read it, in id order, the same bytes every time.
// Of a sample that is stored in variants, the first.
//
//   kImageFolder  TO/SPLIT/CLASS/NAME: encoded images as they are stored, pixels as PNG. NAME is
//                 the last part of the sample's own name (names.h). Unlabelled samples lie in
//                 TO/SPLIT. Where there is one split only, SPLIT is left out, unless that would be
//                 read differently: labelled and unlabelled samples, a class called as a split.
//   kTree         TO/PATH: the files that were ingested, byte for byte, under the paths they have
//   in
//                 their source (names.h); TO/SOURCE/PATH where there are several sources. Bytes
//                 come from the source, checked against the hash of what was ingested, or from
//                 the cache where it keeps files. At `removed_to` likewise what the selection
//                 removes; it is put in place before TO is.
//   kWebDataset   TO/SPLIT-000000.tar ...: ID.jpg (.png ...), ID.cls where there is one label, and
//                 ID.json with "id", "name", "label" and "class"; TO/classnames.txt.
//   kList         TO is a CSV of id, name, split, class, kept, why, kept_name; no images.
//
// All is made beside `to` and renamed there at the end, durably: whatever ends it before leaves
// nothing at `to`. What a killed one left beside it is removed by the next. Sources are only read.
// Throws UsageError when something is at `to` (an empty folder will do), the cache has no images or
// none are left, samples with several labels meet kImageFolder, a tree wants a file that is gone or
// changed and that the cache does not keep, or links cannot be made (a cache of pixels, sources
// that are no files, another file system); FormatError naming the sample whose record is damaged;
// StoppedError.
ExportResult export_cache(const Cache& cache, const std::filesystem::path& to,
                          const ExportOptions& options, const ProgressSink& progress = {});

}  // namespace winnow::pipeline
