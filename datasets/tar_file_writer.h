#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "common/bytes.h"

namespace winnow::datasets {

// Writes a tar archive (POSIX ustar) of plain files, without times, owners or anything else that
// varies: the same members give the same bytes. Not thread-safe.
class TarFileWriter {
 public:
  using Sink = std::function<void(BytesView)>;

  // sink  Receives the bytes of the archive in order. Its exceptions end the call that writes.
  explicit TarFileWriter(Sink sink);
  ~TarFileWriter();  // writes no end mark if finish() was not called
  TarFileWriter(TarFileWriter&&) noexcept;

  // Adds a file. Throws Error if ustar cannot store it: a name of more than 100 bytes or not in
  // ASCII, for example.
  void add(const std::string& name, BytesView bytes);
  void finish();  // writes the end mark

  // Size in the archive of a file of `bytes` bytes, header included.
  static std::uint64_t member_bytes(std::uint64_t bytes) noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace winnow::datasets
