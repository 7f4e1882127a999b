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

// Parts of shards: packs with records of some ids are read, without mapping the file and without
// reading other packs, and are written as a shard that has only these records.
namespace winnow::pipeline {

// Where a pack is in the file of a shard.
struct PackPlace {
  IdRun ids;  // range of ids that the pack can have: up to the key of the next pack
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
};

// Finds all packs in the file of `shard`, ascending, or those with ids of `of`. Reads the pages of
// the tree. FormatError if the file's size is not that in the manifest, or it is damaged.
std::vector<PackPlace> find_packs(const InputFile& file, const ShardInfo& shard);
std::vector<PackPlace> find_packs(const InputFile& file, const ShardInfo& shard,
                                  std::span<const IdRun> of);

// Reads a pack and verifies the checksums of its records. Throws FormatError, which names file and
// record.
Bytes read_pack(const InputFile& file, const PackPlace& place);

// Size of a pack in a stream between machines. In a stream, packs follow each other, each after its
// size (8 bytes, native byte order).
std::uint64_t stream_bytes(const PackPlace& place) noexcept;

// The stream of the packs of a shard that have records of some ids. Not thread-safe.
class PackStream {
 public:
  PackStream(const std::filesystem::path& file, const ShardInfo& shard, std::span<const IdRun> of);

  // Reads bytes [begin, begin + out.size()) of the stream. Packs are verified as by read_pack();
  // the last one is kept for the next call.
  void read_at(std::uint64_t begin, std::span<std::byte> out);

 private:
  const Bytes& pack(std::size_t number);

  InputFile file_;
  std::vector<PackPlace> places_;
  std::vector<std::uint64_t> begins_;  // byte offset of each pack in the stream
  std::size_t number_ = 0;
  Bytes pack_;  // bytes of pack number_; empty: none yet
};

// Writes a shard that has only the records with some ids. Packs are copied unchanged unless they
// also have other ids. Not thread-safe.
class ShardPartWriter {
 public:
  // `of`: the ids to keep; must outlive this object.
  ShardPartWriter(const std::filesystem::path& shard, std::span<const IdRun> of)
      : writer_(shard), of_(of) {}

  // Adds a pack. Ids must ascend. Throws FormatError naming `where` for a damaged pack;
  // SystemError.
  void put(Bytes pack, const std::string& where);
  // Adds the next bytes of a stream, in pieces of any size.
  void put_stream(BytesView bytes, const std::string& where);
  // Completes the shard. Must be the last call. FormatError if a stream ends within a pack. The
  // caller syncs the folder.
  void finish(const std::string& where);

 private:
  void commit();

  lmdb::Writer writer_;
  std::span<const IdRun> of_;
  std::vector<lmdb::Writer::Entry> transaction_;
  std::uint64_t bytes_ = 0;  // size of the current transaction
  Bytes unread_;             // bytes of a pack that is not complete yet
};

}  // namespace winnow::pipeline
