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

// The command line of winnow: all verbs, and the environment variables and configuration file for
// their options.
class Program {
 public:
  Program();
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Parses the words; words[0] is the program's name.
  // Out  the exit code if nothing is left to do: help was printed, or the words were wrong; `to`
  //      got the message
  std::optional<int> parse(std::vector<std::string> words, const Sinks& to);
  // The verb, if parse() returned nothing.
  const Command& called() const;

 private:
  std::unique_ptr<CLI::App> app_;
  std::vector<Command> commands_;
};

// Runs the called verb on this rank. An exception becomes a message, and ends the other ranks.
// put_out  called last: throws unless the session's lines have arrived
// Out      the exit code
int run(const Command& command, Session& session, const std::function<void()>& put_out);

// The program's message about a failure.
std::string failure(const std::string& why);

}  // namespace winnow::tools
