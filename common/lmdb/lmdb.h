#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "common/bytes.h"

// The one home of LMDB. Two uses, both of single-file environments (MDB_NOSUBDIR): write a shard
// from nothing and seal it; read sealed shards without locks. LMDB has no page checksums: what the
// values hold must carry its own.
namespace winnow::lmdb {

// Writes one environment from an empty file, keys ascending. Every put is one transaction begun and
// committed inside the call, on whatever thread calls (a transaction may not change threads). The
// file depends on the sequence of puts alone, not on time, threads or memory; its pages are the
// operating system's.
class Writer {
 public:
  // Removes what is at `path`. Throws SystemError.
  explicit Writer(const std::filesystem::path& path);
  ~Writer();
  Writer(Writer&&) noexcept;

  using Entry = std::pair<std::uint64_t, Bytes>;  // key, written 8 bytes big-endian; value
  // One transaction, held in memory until it is written. Keys must ascend, within the call and
  // across calls; a value is under 2 GiB. Throws SystemError; a full disk or tmpfs says so.
  void put(const std::vector<Entry>& entries);

  // Syncs the file and closes. Nothing else may be called after. The folder is the caller's to
  // sync.
  void seal();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A sealed environment, mapped read-only. Safe from many threads: keys and places are read once, by
// the constructor, and no call into LMDB is made after. The constructor checks every page pointer
// first (see structure.h), so a damaged file is a FormatError; values are not checked. Values that
// are multiples of 8 bytes are 8-byte aligned, if all of the file are. The file must not change or
// shrink while it is open.
class Reader {
 public:
  explicit Reader(const std::filesystem::path& path);
  ~Reader();
  Reader(Reader&&) noexcept;

  std::uint64_t entries() const;
  // The value of the largest key <= `key`, and that key; {0, empty} if there is none. The bytes
  // live as long as the Reader.
  std::pair<std::uint64_t, BytesView> at_or_before(std::uint64_t key) const;
  BytesView values() const noexcept;  // all of them and what lies between, in whole pages
  // Takes the values' pages out of this process's memory; they come back when they are read.
  void drop_pages() const noexcept;
  // All keys and values in order.
  std::vector<std::pair<std::uint64_t, BytesView>> all() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace winnow::lmdb
