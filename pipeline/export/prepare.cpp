#include "pipeline/export/prepare.h"

#include <tbb/parallel_for.h>

#include <exception>

#include "common/error.h"
#include "pipeline/export/choice.h"

namespace winnow::pipeline {
namespace {

RecordView record_of(const Cache& cache, SampleId id, const std::string& name) {
  try {
    const RecordView record = cache.record(id, first_variant);
    // Record and table have labels; they may differ in a cache that was assembled by hand.
    for (const std::int32_t label : record.labels) class_name(cache.manifest(), label);
    return record;
  } catch (const FormatError& error) {
    throw FormatError("'" + name + "' cannot be exported: " + error.what());
  }
}

}  // namespace

void check_stop(const StopRequested& stop) {
  if (!stop || !stop()) return;
  throw StoppedError(
      "the export was stopped before its end and left nothing; run the same command again to make "
      "it");
}

Preparer::Preparer(const Cache& cache, const dedup::Fingerprints& table, const LedgerNames& names,
                   const ExportOptions& options)
    : cache_(cache), table_(table), names_(names), options_(options) {
  const FromSource& source = options.source;
  if (!source.folders.empty()) files_.emplace(cache.manifest(), source.folders);
  if (files_ || options.as == ExportAs::kTree) {
    hashes_ = cache.open_fingerprints()({"file_hashes"}).file_hashes;
  }
}

std::vector<ReadySample> Preparer::prepare(std::span<const std::size_t> rows) const {
  std::vector<ReadySample> samples(rows.size());
  std::vector<std::exception_ptr> errors(rows.size());
  tbb::parallel_for(std::size_t{0}, rows.size(), [&](std::size_t i) {
    try {
      check_stop(options_.stop);
      prepare_one(rows[i], samples[i]);
    } catch (...) {
      errors[i] = std::current_exception();
    }
  });
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  return samples;
}

void Preparer::prepare_one(std::size_t row, ReadySample& sample) const {
  const SampleId id = table_.ids[row];
  sample.name = names_(id);
  if (options_.as == ExportAs::kTree) {
    sample.record.id = id;
    find_original(row, sample);
    return;
  }
  sample.record = record_of(cache_, id, sample.name);
  sample.record.split = table_.splits[row];
  sample.file = image_file(sample.record, sample.made);
  // The stored form may differ from the file.
  if (files_ && xxh3_128(sample.file.bytes) == hashes_[row]) {
    sample.same_file = files_->find(id, sample.name, hashes_[row]);
  }
}

// Finds the original file: a link to it, or its bytes, from the source or else from the cache.
void Preparer::find_original(std::size_t row, ReadySample& sample) const {
  const SampleId id = table_.ids[row];
  if (files_ && options_.source.link != Link::kNone) {
    sample.same_file = files_->find(id, sample.name, hashes_[row]);
    if (sample.same_file) return;
  } else if (files_) {
    if (auto bytes = files_->read(id, sample.name, hashes_[row])) {
      sample.made = std::move(*bytes);
      sample.file.bytes = sample.made;
      return;
    }
  }
  const std::string cache = cache_.paths().root.string();
  if (!cache_.manifest().shards.empty()) {
    const RecordView record = record_of(cache_, id, sample.name);
    if (record.coding == Coding::kEncoded && xxh3_128(record.payload) == hashes_[row]) {
      sample.file.bytes = record.payload;
      return;
    }
  }
  if (files_) {
    throw UsageError("'" + sample.name +
                     "' is gone from its source, or changed since it was ingested, and its bytes "
                     "are not kept; put it back, or ingest again");
  }
  throw UsageError(cache + " does not store the original file '" + sample.name +
                   "'; name the folder that was ingested with --source");
}

}  // namespace winnow::pipeline
