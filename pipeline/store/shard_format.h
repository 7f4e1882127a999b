#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "common/bytes.h"
#include "common/sample.h"
#include "pipeline/store/checked.h"

namespace winnow::pipeline {

// The bytes of one LMDB value: a pack of records with ascending ids. The key is the first id.
//
//   offset  size  field
//        0     4  count, uint32 little-endian, >= 1
//        4     4  zero
//        8   8*n  byte offset of each record from the start of the value, uint64, multiple of 8
//
// One record; the records follow one another without gaps:
//
//        0     8  XXH3-64 of the bytes [8, end of the payload) of the record
//        8     2  format version: 1, or 2 with variants
//       10     1  Coding
//       11     1  Split
//       12     2  number of labels L
//       14     2  bytes of group key G
//       16     8  id
//       24     4  height_px        of the decoded image
//       28     4  width_px
//       32     2  channels, 1 or 3
//       34     2  zero; with variants their number V, >= 2
//       36     4  payload bytes P
//       40   4*L  labels, int32
//        -     G  group key
//        -   8*V  with variants, at the next multiple of 8: XXH3-64 of each
//        -     P  payload, at the next multiple of 8; zero bytes follow it to a multiple of 8
//
// The payload of a record with variants is their raw pixels, one after another. The checksum at its
// beginning then covers [8, begin of the payload), so that reading one variant needs no other.
//
// docs/formats/shard.md describes the same format for readers without this source.
inline constexpr std::uint16_t kRecordVersion = 2;  // newest version that can be read
inline constexpr std::size_t kRecordHeaderBytes = 40;

// How a record's payload is coded. Stored on disk: never renumber.
enum class Coding : std::uint8_t { kRaw = 0, kEncoded = 1 };

// A record of one sample, to be written (views of the writer's data) or read (views of the shard).
struct RecordView {
  SampleId id = 0;
  Split split = Split::kNone;
  Coding coding = Coding::kRaw;
  int height_px = 0;
  int width_px = 0;
  int channels = 0;
  std::span<const std::int32_t> labels;  // indices into the manifest's classes
  std::string_view group;
  BytesView payload;  // raw: HWC pixels of all variants; encoded: the user's bytes
  int variants = 1;   // number of augmented variants in the payload; several are always raw
};

// Chooses which of a record's augmented variants is read: 0 to variants - 1.
using PickVariant = std::function<int(int variants)>;
inline constexpr auto first_variant = [](int /*variants*/) { return 0; };

// Packs one or more records with ascending ids into one LMDB value, a multiple of 8 bytes. Throws
// Error if a field does not fit its width, or a raw payload does not have variants * height * width
// * channels bytes.
Bytes pack_records(std::span<const RecordView> records);

// The size of a pack with a single record, and writing such a pack to a span of that size. Throws
// as pack_records().
std::size_t packed_bytes(const RecordView& record);
void pack_record(const RecordView& record, std::span<std::byte> out);

// Calls `take` with each id of a pack and packed_bytes() of its record (with variants: of any one
// of them). Reads only headers, and checks only the directory. Throws FormatError naming `where`.
void for_each_packed_size(BytesView pack, const std::string& where,
                          const std::function<void(SampleId id, std::size_t bytes)>& take);

// Calls `take` with each id of a pack and the labels of its record. Reads and checks as
// for_each_packed_size().
void for_each_labels(
    BytesView pack, const std::string& where,
    const std::function<void(SampleId id, std::span<const std::int32_t> labels)>& take);

// Finds record `id` in a pack, and verifies its checksum. `found` is false if the pack does not
// have the id.
// pack     must be 8-byte aligned
// pick     called if there are several variants: only the chosen one is read, verified and returned
// checked  for bytes that include the pack: parts it remembers are not verified again
// Errors   FormatError naming `where` if what is read is damaged or too new
struct FoundRecord {
  bool found = false;
  RecordView record;
};
FoundRecord find_record(BytesView pack, SampleId id, const std::string& where,
                        const PickVariant& pick = {}, CheckedBytes* checked = nullptr);

// All records of a pack. Checksums of the records and of the directory are verified.
std::vector<RecordView> unpack_records(BytesView pack, const std::string& where);

}  // namespace winnow::pipeline
