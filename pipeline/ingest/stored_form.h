#pragma once

#include <cstdint>
#include <span>

#include "pipeline/ingest/input.h"
#include "pipeline/store/shard_format.h"

namespace winnow::pipeline {

// What a shard holds of an input: its bytes, its pixels, or what is made of these. Safe from many
// threads.
class StoredForm {
 public:
  explicit StoredForm(const IngestOptions& options)
      : store_(options.store), resize_(options.resize), variants_(options.variants) {}

  // Makes what is stored instead of it, where something is, once it is fingerprinted.
  void make(const Place& place, Readable& input) const;
  // `input`, of which it was made, and `labels` must outlive the record.
  RecordView record_of(const Place& place, const Readable& input,
                       std::span<const std::int32_t> labels) const;

 private:
  void resize(Readable& input) const;

  Store store_;
  ResizeSettings resize_;
  VariantSettings variants_;
};

}  // namespace winnow::pipeline
