#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/bytes.h"
#include "common/file.h"
#include "common/lmdb/lmdb.h"
#include "pipeline/store/manifest.h"
#include "pipeline/store/parts.h"

// Parts of shards: packs that have records of some ids, read without mapping the file and without
// reading the others, and written as a shard of these records alone.
namespace winnow::pipeline {

// A pack in the file of a shard.
struct PackPlace {
  IdRun ids;  // that its records can have: up to the key of the next
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
};

// All packs of the file of `shard`, ascending; reads the pages of the tree. FormatError where the
// file has not the size the manifest says, or is damaged.
std::vector<PackPlace> find_packs(const InputFile& file, const ShardInfo& shard);
std::vector<PackPlace> find_packs(const InputFile& file, const ShardInfo& shard,
                                  std::span<const IdRun> of);

// Reads a pack and compares its records with their checksums. FormatError naming file and record.
Bytes read_pack(const InputFile& file, const PackPlace& place);

// Packs as they go from one machine to another: one after another, each after its number of bytes
// (8, in the order of the machine).
std::uint64_t stream_bytes(const PackPlace& place) noexcept;

// The stream of the packs of a shard that have records of some ids. Not safe from several threads.
class PackStream {
 public:
  PackStream(const std::filesystem::path& file, const ShardInfo& shard, std::span<const IdRun> of);

  // Bytes [begin, begin + out.size()). Packs are checked as by read_pack(), and the last one is
  // kept for what is asked of it next.
  void read_at(std::uint64_t begin, std::span<std::byte> out);

 private:
  const Bytes& pack(std::size_t number);

  InputFile file_;
  std::vector<PackPlace> places_;
  std::vector<std::uint64_t> begins_;  // of each in the stream
  std::size_t number_ = 0;
  Bytes pack_;  // the number_-th; empty: none yet
};

// Writes a shard of the records that have some ids: packs as they are, but for those that have
// others, too. Not safe from several threads.
class ShardPartWriter {
 public:
  // `of` must stay.
  ShardPartWriter(const std::filesystem::path& shard, std::span<const IdRun> of)
      : writer_(shard), of_(of) {}

  // Ids ascend. FormatError naming `where` for a damaged pack, SystemError.
  void put(Bytes pack, const std::string& where);
  // The next bytes of a stream, in any pieces.
  void put_stream(BytesView bytes, const std::string& where);
  // Nothing else may be called after. FormatError where a stream ends within a pack. The folder is
  // the caller's to sync.
  void finish(const std::string& where);

 private:
  void commit();

  lmdb::Writer writer_;
  std::span<const IdRun> of_;
  std::vector<lmdb::Writer::Entry> transaction_;
  std::uint64_t bytes_ = 0;  // of the transaction
  Bytes unread_;             // of a stream, less than a pack and its number of bytes
};

}  // namespace winnow::pipeline
