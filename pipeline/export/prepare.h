#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/checksum.h"
#include "dedup/table/fingerprints.h"
#include "pipeline/export/export.h"
#include "pipeline/export/source_files.h"
#include "pipeline/export/writer.h"
#include "pipeline/store/cache.h"

namespace winnow::pipeline {

// Prepares samples for export: reads, checks and encodes several at once, on TBB's threads.
class Preparer {
 public:
  // All arguments must outlive this object. `table` has the splits in which samples are exported.
  // Throws UsageError as SourceFiles.
  Preparer(const Cache& cache, const dedup::Fingerprints& table, const LedgerNames& names,
           const ExportOptions& options);

  // Prepares the samples of these rows of the table, in order. Throws the error of the first faulty
  // sample: FormatError for a damaged record; UsageError if a tree needs a file whose bytes are not
  // available; StoppedError.
  std::vector<ReadySample> prepare(std::span<const std::size_t> rows) const;

 private:
  void prepare_one(std::size_t row, ReadySample& sample) const;
  void find_original(std::size_t row, ReadySample& sample) const;

  const Cache& cache_;
  const dedup::Fingerprints& table_;
  const LedgerNames& names_;
  const ExportOptions& options_;
  std::optional<SourceFiles> files_;
  std::vector<Hash128> hashes_;  // hash of the original file of each row
};

// Throws StoppedError if a stop was requested.
void check_stop(const StopRequested& stop);

}  // namespace winnow::pipeline
