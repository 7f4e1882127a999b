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

// Where the original files are, to export from them. A file is used if it still has the same bytes.
struct FromSource {
  std::vector<std::filesystem::path> folders;  // one folder for each source of the cache; or none
  Link link = Link::kNone;                     // makes links to these files instead of copies
};

struct ExportOptions {
  ExportAs as = ExportAs::kImageFolder;
  std::string selection;  // name of the selection that says what is kept; empty: export everything
  std::optional<Split> split;  // export only this split
  // Size of a tar shard in bytes, unless a single sample is larger.
  std::uint64_t shard_bytes = std::uint64_t{256} << 20;
  FromSource source;
  // Folder for a tree of the images that the selection removes; empty: none.
  std::filesystem::path removed_to;
  int threads = 0;  // threads of TBB; 0: TBB's default
  StopRequested stop;
};

struct ExportResult {
  std::uint64_t samples = 0;   // samples written or, with kList, listed
  std::uint64_t left_out = 0;  // samples removed by the selection; kList lists them all the same
  std::uint64_t files = 0;     // files that were made, including links
  std::uint64_t bytes = 0;     // size of these files in bytes; links count 0
  std::uint64_t linked = 0;
  // With links: number of samples copied instead, because the source file is missing or has
  // changed, and the names of the first few.
  std::uint64_t copied = 0;
  std::vector<std::string> first_copied;
  double seconds = 0;
};

// Throws UsageError if an export may not be placed at `to` and `options.removed_to`. Call it before
// anything is read.
void check_destinations(const std::filesystem::path& to, const ExportOptions& options);

// Exports a cache for other programs, in id order. Always gives the same bytes. If a sample has
// stored variants, the first is exported.
//
// kImageFolder  TO/SPLIT/CLASS/NAME: encoded images as stored, pixels as PNG. NAME is the last part
//               of the sample's name (names.h). Unlabelled samples are in TO/SPLIT. If there is
//               only one split, SPLIT is left out, unless readers would then misunderstand the
//               folders: labelled and unlabelled samples, or a class named like a split.
// kTree         TO/PATH: the original files, byte for byte, under their paths in the source
//               (names.h); TO/SOURCE/PATH with several sources. Bytes come from the source, checked
//               against the ingested hash, or from a cache that keeps files. What the selection
//               removes goes to `removed_to` in the same way, which is complete before TO is.
// kWebDataset   TO/SPLIT-000000.tar ...: ID.jpg (.png ...), ID.cls if there is one label, and
//               ID.json with "id", "name", "label" and "class"; TO/classnames.txt.
// kList         TO is a CSV of id, name, split, class, kept, why, kept_name; no images.
//
// Atomic   Everything is written beside `to` and renamed at the end, durably. An interrupted export
//          leaves nothing at `to`; the next one removes its remains. Sources are only read.
// Errors   UsageError: something exists at `to` (an empty folder is allowed); the cache has no
//          images, or none are left; kImageFolder with several labels per image; kTree with a file
//          that is gone or changed and not kept in the cache; links are impossible (a cache of
//          pixels, sources that are not files, another file system). FormatError names the sample
//          with a damaged record. StoppedError.
ExportResult export_cache(const Cache& cache, const std::filesystem::path& to,
                          const ExportOptions& options, const ProgressSink& progress = {});

}  // namespace winnow::pipeline
