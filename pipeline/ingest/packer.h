#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/bytes.h"
#include "pipeline/ingest/byte_gate.h"
#include "pipeline/store/pack_cutter.h"
#include "pipeline/store/shard_format.h"

namespace winnow::pipeline {

// One value of a shard: a pack of records. If there was no room to keep its bytes until they are
// written, `pack` is empty and the writer makes it again from the source.
struct Pack {
  struct Item {
    std::uint64_t position = 0;
    std::size_t row = 0;  // row in the chunk's fingerprints; unused for records of a base cache
  };
  std::vector<Item> items;
  Bytes pack;
  ByteGate::Credit credit;
};

// The size in bytes of a record in a pack of its own: header, directory, padding.
std::uint64_t pack_bytes(const RecordView& record);

// Gathers consecutive small records into packs; each large record gets its own.
class Packer {
 public:
  // `out` receives the packs. The bytes of a pack are kept only if the gate `kept` has room. Both
  // must outlive this object.
  Packer(std::vector<Pack>& out, ByteGate& kept) : out_(out), kept_(kept), credit_(kept.none()) {}

  // Adds a record to a pack; `record` is not needed afterwards.
  void add(const RecordView& record, Pack::Item item);
  void close();  // ends the current pack

 private:
  void keep(const RecordView& record);
  void close_with(std::span<const RecordView> records);
  void drop();

  std::vector<Pack>& out_;
  ByteGate& kept_;
  ByteGate::Credit credit_;
  std::vector<Pack::Item> items_;
  std::vector<RecordView> records_;  // records of items_, while all of them are kept
  std::vector<Bytes> payloads_;  // data of these records, owned here because inputs are released
  std::vector<std::vector<std::int32_t>> labels_;
  PackCutter cutter_;
  bool kept_all_ = true;
};

}  // namespace winnow::pipeline
