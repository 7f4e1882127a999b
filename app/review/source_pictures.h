#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "datasets/source.h"
#include "pipeline/export/thumbnails.h"
#include "pipeline/store/cache.h"

namespace winnow::app {

// Pictures of a cache: from its shards or, if it stores none, from the data sets that it was made
// from. Thread-safe.
class SourcePictures {
 public:
  // at      the data sets in the order of the cache's sources; empty if the cache has shards
  // In      `cache` and `names` must outlive it.
  // Throws  UsageError: data sets are missing, too many or too few, or one is not what was ingested
  //         (format, number of inputs).
  SourcePictures(const pipeline::Cache& cache, const pipeline::LedgerNames& names,
                 const std::vector<std::filesystem::path>& at);

  // Valid as long as this. An input whose name has changed has no picture.
  pipeline::PictureOf pictures() const;

 private:
  const pipeline::Cache& cache_;
  const pipeline::LedgerNames& names_;
  std::vector<std::unique_ptr<datasets::Source>> sources_;
};

}  // namespace winnow::app
