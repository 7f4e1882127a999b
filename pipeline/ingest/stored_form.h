#pragma once

#include <cstdint>
#include <span>

#include "pipeline/ingest/input.h"
#include "pipeline/store/shard_format.h"

namespace winnow::pipeline {

// The form in which a shard stores an input: its bytes, its pixels, or something made from these.
// Thread-safe.
class StoredForm {
 public:
  explicit StoredForm(const IngestOptions& options)
      : store_(options.store), resize_(options.resize), variants_(options.variants) {}

  // Makes the stored form, if it differs from the input. Call it after fingerprinting.
  void make(const Place& place, Readable& input) const;
  // `input` (after make()) and `labels` must outlive the record.
  RecordView record_of(const Place& place, const Readable& input,
                       std::span<const std::int32_t> labels) const;

 private:
  void resize(Readable& input) const;

  Store store_;
  ResizeSettings resize_;
  VariantSettings variants_;
};

}  // namespace winnow::pipeline
