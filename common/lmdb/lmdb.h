#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "common/bytes.h"

// Reads and writes LMDB environments of one file (MDB_NOSUBDIR). Only this part of winnow uses
// LMDB. A file is written once from scratch, then sealed; sealed files are read without locks. LMDB
// has no checksums of its pages, so values must carry their own.
namespace winnow::lmdb {

// Writes one LMDB file, with ascending keys. Each put() is one transaction, begun and committed on
// the calling thread (a transaction may not change threads).
// The file depends on the sequence of puts only, not on time, threads or memory. Its pages are of
// the operating system's size.
class Writer {
 public:
  // Starts a new file; removes a file at `path` first. Throws SystemError.
  explicit Writer(const std::filesystem::path& path);
  ~Writer();
  Writer(Writer&&) noexcept;

  using Entry = std::pair<std::uint64_t, Bytes>;  // key (stored as 8 bytes, big-endian) and value
  // Writes these entries as one transaction, which is held in memory meanwhile. Keys must ascend,
  // within and across calls. Each value must be under 2 GiB.
  // Errors  SystemError; it says so if the disk or tmpfs is full.
  void put(const std::vector<Entry>& entries);

  // Syncs and closes the file. Must be the last call. The caller syncs the folder.
  void seal();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A sealed LMDB file, memory-mapped read-only. Thread-safe: the constructor reads keys and
// positions, and LMDB is not called afterwards.
// Checked    The constructor first checks every page pointer (structure.h), so a damaged file gives
//            FormatError. Values are not checked.
// Alignment  Values are 8-byte aligned if the sizes of all values in the file are multiples of 8
//            bytes.
// The file must not change or shrink while it is open.
class Reader {
 public:
  explicit Reader(const std::filesystem::path& path);
  ~Reader();
  Reader(Reader&&) noexcept;

  std::uint64_t entries() const;
  // The entry with the largest key that is at most `key`; {0, empty} if there is none. The bytes
  // live as long as the Reader.
  std::pair<std::uint64_t, BytesView> at_or_before(std::uint64_t key) const;
  BytesView values() const noexcept;  // the part of the file with all values, in whole pages
  // Drops the pages of the values from this process's memory. They are loaded again when read.
  void drop_pages() const noexcept;
  // All entries, in order of keys.
  std::vector<std::pair<std::uint64_t, BytesView>> all() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace winnow::lmdb
