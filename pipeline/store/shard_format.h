#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/bytes.h"
#include "common/sample.h"

namespace winnow::pipeline {

// The bytes of one LMDB value: a pack of records with ascending ids. The key is the first id.
//
//   offset  size  field
//        0     4  count, uint32 little-endian, >= 1
//        4     4  zero
//        8   8*n  byte offset of each record from the start of the value, uint64, multiple of 8
//
// One record:
//
//        0     2  format version (1)
//        2     1  Coding
//        3     1  Split
//        4     2  number of labels
//        6     2  bytes of group key
//        8     8  id
//       16     4  height_px        of the decoded image
//       20     4  width_px
//       24     2  channels
//       26     2  zero
//       28     4  payload bytes
//       32     8  XXH3-64 of all other bytes of the record (padding left out)
//       40   4*L  labels, int32
//        -     G  group key
//        -     P  payload, at the next multiple of 8; zero bytes follow it to a multiple of 8
//
// docs/formats/shard.md says the same to people without this source.
inline constexpr std::uint16_t kRecordVersion = 1;
inline constexpr std::size_t kRecordHeaderBytes = 40;

enum class Coding : std::uint8_t { kRaw = 0, kEncoded = 1 };  // on disk: never renumber

// A record as written (views into what the writer holds) or as read (views into the shard).
struct RecordView {
  SampleId id = 0;
  Split split = Split::kNone;
  Coding coding = Coding::kRaw;
  int height_px = 0;
  int width_px = 0;
  int channels = 0;
  std::span<const std::int32_t> labels;  // indices of the manifest's classes
  std::string_view group;
  BytesView payload;  // raw: HWC pixels; encoded: the user's bytes
};

// Packs records into one value. Throws Error when a field does not fit its width.
Bytes pack_records(std::span<const RecordView> records);

// The record `id` of a pack, checked against its checksum. Throws FormatError naming `where` when
// the pack is damaged or newer; `found` is false when the pack is sound but lacks the id.
struct FoundRecord {
  bool found = false;
  RecordView record;
};
FoundRecord find_record(BytesView pack, SampleId id, const std::string& where);

// All records of a pack, each checked.
std::vector<RecordView> unpack_records(BytesView pack, const std::string& where);

}  // namespace winnow::pipeline
