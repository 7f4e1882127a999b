#include <cstddef>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "app/printable.h"
#include "common/comm/communicator.h"
#include "tools/program.h"

// The program as a library, for tests that need no process (program.py).

namespace winnow::tools {
namespace {

enum class Stream { kOut = 1, kErr = 2 };
using Take = void (*)(int stream, const char* bytes, std::size_t count);

int run_in_this_process(const std::vector<std::string>& words, Take take) {
  const auto put = [take](Stream stream, std::string_view text) {
    take(static_cast<int>(stream), text.data(), text.size());
  };
  const Sinks to{
      .sentence =
          [put](const std::string& sentence) { put(Stream::kErr, printable(sentence) + '\n'); },
      .lines = [put](std::string_view lines) { put(Stream::kOut, lines); },
      .flush = {},
      .bar = {},
      .nothing_to_finish = {}};
  Program program;
  if (const std::optional<int> done = program.parse(words, to)) return *done;
  const std::unique_ptr<comm::Communicator> alone = comm::make_single();
  Session session{*alone, detect_threads(1, 1), {}, to};
  return run(program.called(), session, [] {});
}

}  // namespace
}  // namespace winnow::tools

// Runs the program on `words`; words[0] is its name. `take` gets its output, in this thread.
// Out  The exit code; -1: an exception left the program.
extern "C" int winnow_run(int count, const char* const* words, winnow::tools::Take take) {
  try {
    return winnow::tools::run_in_this_process({words, words + count}, take);
  } catch (const std::exception& error) {
    const std::string_view why = error.what();
    take(2, why.data(), why.size());
    return -1;
  }
}
