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

  // Receives the archive's bytes in order; its exceptions are passed on.
  explicit TarFileWriter(Sink sink);
  ~TarFileWriter();  // without finish() there is no end mark
  TarFileWriter(TarFileWriter&&) noexcept;

  // Throws Error if ustar cannot express it, such as names longer than 100 bytes or not in ASCII.
  void add(const std::string& name, BytesView bytes);
  void finish();  // writes the end mark

  // Size of a member in the archive, header included.
  static std::uint64_t member_bytes(std::uint64_t bytes) noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace winnow::datasets
