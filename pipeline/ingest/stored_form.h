#pragma once

#include <cstdint>
#include <span>

#include "pipeline/ingest/input.h"
#include "pipeline/store/shard_format.h"

namespace winnow::pipeline {

// Makes the form in which a shard stores an input: the input's bytes, its pixels, or an image made
// from these. Thread-safe.
class StoredForm {
 public:
  explicit StoredForm(const IngestOptions& options)
      : store_(options.store), resize_(options.resize), variants_(options.variants) {}

  // Makes the stored form, if it differs from the input. Call it after fingerprinting.
  void make(const Place& place, Readable& input) const;
  // The record of an input after make(). `input` and `labels` must outlive the record.
  RecordView record_of(const Place& place, const Readable& input,
                       std::span<const std::int32_t> labels) const;

 private:
  void resize(Readable& input) const;

  Store store_;
  ResizeSettings resize_;
  VariantSettings variants_;
};

}  // namespace winnow::pipeline
