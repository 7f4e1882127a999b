#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "common/bytes.h"

// The one home of LMDB. Two uses, both of single-file environments (MDB_NOSUBDIR): write a shard
// from nothing and seal it; read sealed shards without locks. LMDB has no page checksums and a
// damaged file can crash inside it: check the size and the blocks of a shard before opening it.
namespace winnow::lmdb {

// Writes one environment from an empty file, keys ascending. Every put is one transaction begun and
// committed inside the call, on whatever thread calls (a transaction may not change threads).
class Writer {
 public:
  // Removes what is at `path`. map_bytes bounds the file. Throws SystemError.
  Writer(const std::filesystem::path& path, std::uint64_t map_bytes);
  ~Writer();
  Writer(Writer&&) noexcept;

  using Entry = std::pair<std::uint64_t, Bytes>;  // key, written 8 bytes big-endian; value
  // One transaction. Keys must ascend, within the call and across calls. Throws SystemError; a full
  // disk or tmpfs says so.
  void put(const std::vector<Entry>& entries);

  // Syncs the file and closes. Nothing else may be called after.
  void seal();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A sealed environment, mapped read-only. Safe from many threads; opening the same file twice in a
// process is not allowed by LMDB: hold one Reader per file.
class Reader {
 public:
  explicit Reader(const std::filesystem::path& path);
  ~Reader();
  Reader(Reader&&) noexcept;

  std::uint64_t entries() const;
  // The value of the largest key <= `key`, and that key; empty value if there is none. The bytes
  // live as long as the Reader.
  std::pair<std::uint64_t, BytesView> at_or_before(std::uint64_t key) const;
  // All keys and values in order.
  std::vector<std::pair<std::uint64_t, BytesView>> all() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace winnow::lmdb
