#include "pipeline/ingest/packer.h"

#include <utility>

namespace winnow::pipeline {

std::uint64_t pack_bytes(const RecordView& record) {
  const auto variants = static_cast<std::uint64_t>(record.variants);
  return 16 + kRecordHeaderBytes + 4 * record.labels.size() + record.group.size() + 16 +
         8 * variants + record.payload.size();
}

void Packer::add(const RecordView& record, Pack::Item item) {
  if (cutter_.ends_before(record.payload.size())) close();
  items_.push_back(item);
  if (record.payload.size() > kPackBytes) {
    // Directly from the input's memory, which is counted elsewhere until it is released.
    kept_all_ = credit_.try_grow_to(pack_bytes(record));
    if (kept_all_) close_with(std::span(&record, 1));
    close();
  } else if (kept_all_) {
    keep(record);
  }
}

void Packer::close() {
  for (std::size_t i = 0; i < records_.size(); ++i) {
    records_[i].payload = payloads_[i];
    records_[i].labels = labels_[i];
  }
  close_with(records_);
}

// Twice: a copy now, and later the pack beside all copies.
void Packer::keep(const RecordView& record) {
  kept_all_ = credit_.try_grow_to(credit_.bytes() + 2 * pack_bytes(record));
  if (!kept_all_) {
    drop();
    return;
  }
  records_.push_back(record);
  payloads_.emplace_back(record.payload.begin(), record.payload.end());
  labels_.emplace_back(record.labels.begin(), record.labels.end());
}

void Packer::close_with(std::span<const RecordView> records) {
  if (items_.empty()) return;
  Pack pack;
  pack.items = std::exchange(items_, {});
  if (kept_all_) {
    pack.pack = pack_records(records);
    credit_.shrink_to(pack.pack.size());
    pack.credit = std::exchange(credit_, kept_.none());
  }
  out_.push_back(std::move(pack));
  drop();
  kept_all_ = true;
}

void Packer::drop() {
  records_.clear();
  payloads_.clear();
  labels_.clear();
  credit_.shrink_to(0);
}

}  // namespace winnow::pipeline
