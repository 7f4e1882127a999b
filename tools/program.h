#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/command.h"

namespace CLI {
class App;
}

namespace winnow::tools {

// The command line of winnow: every verb, and the variables of the environment and the
// configuration file that may say what options do.
class Program {
 public:
  Program();
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Takes what was typed; words[0] is what the program was called by.
  // Out  the exit code, where nothing is left to be done: help was given, or the words make no
  //      sense; `to` has been told
  std::optional<int> parse(std::vector<std::string> words, const Sinks& to);
  // After parse() came to nothing else: the verb.
  const Command& called() const;

 private:
  std::unique_ptr<CLI::App> app_;
  std::vector<Command> commands_;
};

// Runs what was called, on this rank. What it throws becomes a sentence, and ends the other ranks.
// put_out  called last: sees to it that the session's lines have arrived, else throws
// Out      the exit code
int run(const Command& command, Session& session, const std::function<void()>& put_out);

// Why nothing came of it, as the program says it.
std::string failure(const std::string& why);

}  // namespace winnow::tools
