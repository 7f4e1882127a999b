#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "datasets/source.h"
#include "pipeline/export/thumbnails.h"
#include "pipeline/store/cache.h"

namespace winnow::app {

// Reads pictures of a cache: from its shards or, if it stores no images, from the original data
// sets. Thread-safe.
class SourcePictures {
 public:
  // at      paths of the data sets, in the order of the cache's sources; empty if the cache has
  //         shards
  // In      `cache` and `names` must outlive this object
  // Throws  UsageError: data sets are missing, too many or too few, or one differs from what was
  //         ingested (format, number of inputs)
  SourcePictures(const pipeline::Cache& cache, const pipeline::LedgerNames& names,
                 const std::vector<std::filesystem::path>& at);

  // A function that reads a picture by its id. Valid while this object lives. An input whose name
  // has changed has no picture.
  pipeline::PictureOf pictures() const;

 private:
  const pipeline::Cache& cache_;
  const pipeline::LedgerNames& names_;
  std::vector<std::unique_ptr<datasets::Source>> sources_;
};

}  // namespace winnow::app
