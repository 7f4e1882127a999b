#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "common/bytes.h"

namespace winnow::datasets {

// Writes a tar archive (POSIX ustar) of plain files, without times, owners or anything else that
// differs from run to run: the same members give the same bytes. Not for several threads at once.
class TarFileWriter {
 public:
  using Sink = std::function<void(BytesView)>;

  explicit TarFileWriter(Sink sink);  // gets the archive's bytes in order; what it throws is thrown
  ~TarFileWriter();                   // without finish() the archive is left without an end
  TarFileWriter(TarFileWriter&&) noexcept;

  // Throws Error when ustar cannot say it: names longer than 100 bytes or not in ASCII, say.
  void add(const std::string& name, BytesView bytes);
  void finish();  // the end mark

  // What a member takes in the archive.
  static std::uint64_t member_bytes(std::uint64_t bytes) noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace winnow::datasets
