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

// The command line of winnow: all verbs (commands), and the environment variables and configuration
// file for their options.
class Program {
 public:
  Program();
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Parses the words of the command line; words[0] is the program's name.
  // Out  the exit code if nothing is left to do: help was printed, or the words were wrong and `to`
  //      got the message; else nullopt
  std::optional<int> parse(std::vector<std::string> words, const Sinks& to);
  // The verb that was called, if parse() returned nullopt.
  const Command& called() const;

 private:
  std::unique_ptr<CLI::App> app_;
  std::vector<Command> commands_;
};

// Runs the called verb on this rank. An exception becomes a message, and ends the other ranks.
// put_out  called last: throws unless the session's output was written
// Out      the exit code
int run(const Command& command, Session& session, const std::function<void()>& put_out);

// The program's message about a failure, with the reason.
std::string failure(const std::string& why);

}  // namespace winnow::tools
