#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "datasets/source.h"
#include "pipeline/export/thumbnails.h"
#include "pipeline/store/cache.h"

namespace winnow::app {

// Where the pictures of a cache come from: its own shards, or, where it stores none, the data sets
// that it was made of. Safe from many threads.
class SourcePictures {
 public:
  // `at`: the data sets in the order of the cache's sources, or none where it has shards. `cache`
  // and `names` must outlive it. UsageError where they are needed and missing, too many or too few,
  // or one is not what was ingested, by its format and number of inputs.
  SourcePictures(const pipeline::Cache& cache, const pipeline::LedgerNames& names,
                 const std::vector<std::filesystem::path>& at);

  // Lives as long as this. An input that is called otherwise than it was has no picture.
  pipeline::PictureOf pictures() const;

 private:
  const pipeline::Cache& cache_;
  const pipeline::LedgerNames& names_;
  std::vector<std::unique_ptr<datasets::Source>> sources_;
};

}  // namespace winnow::app
