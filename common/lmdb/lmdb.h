#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "common/bytes.h"

// The only user of LMDB, for single-file environments (MDB_NOSUBDIR): writes a shard from scratch
// and seals it; reads sealed shards without locks. LMDB has no page checksums, so values must carry
// their own.
namespace winnow::lmdb {

// Writes one environment from an empty file, with ascending keys. Each put is one transaction,
// begun and committed on the calling thread (a transaction may not change threads).
// The file depends on the sequence of puts only, not on time, threads or memory; its pages are of
// the operating system's size.
class Writer {
 public:
  // Removes what is at `path`. Throws SystemError.
  explicit Writer(const std::filesystem::path& path);
  ~Writer();
  Writer(Writer&&) noexcept;

  using Entry = std::pair<std::uint64_t, Bytes>;  // key (stored as 8 bytes big-endian), value
  // Writes one transaction, held in memory meanwhile. Keys must ascend, within and across calls. A
  // value must be under 2 GiB.
  // Errors  SystemError; mentions a full disk or tmpfs.
  void put(const std::vector<Entry>& entries);

  // Syncs and closes the file. Must be the last call. The caller syncs the folder.
  void seal();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A sealed environment, mapped read-only. Thread-safe: the constructor reads keys and positions,
// and LMDB is not called afterwards.
// Checked    The constructor first checks every page pointer (structure.h), so a damaged file is a
//            FormatError. Values are not checked.
// Alignment  Values are 8-byte aligned if all values of the file have multiples of 8 bytes.
// The file must not change or shrink while it is open.
class Reader {
 public:
  explicit Reader(const std::filesystem::path& path);
  ~Reader();
  Reader(Reader&&) noexcept;

  std::uint64_t entries() const;
  // The largest key <= `key`, with its value; {0, empty} if there is none. The bytes live as long
  // as the Reader.
  std::pair<std::uint64_t, BytesView> at_or_before(std::uint64_t key) const;
  BytesView values() const noexcept;  // all of them with what lies between, in whole pages
  // Drops the values' pages from this process's memory; they return when read.
  void drop_pages() const noexcept;
  // All keys and values in order.
  std::vector<std::pair<std::uint64_t, BytesView>> all() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace winnow::lmdb
