#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/file.h"
#include "tools/startup_watch.h"

namespace winnow::tools {

// Finds out which machines of a job reach each other, if MPI does not connect them: each listens on
// a port, gets the addresses of the others from the launcher, and tries them.

// A machine's message about itself.
struct Introduction {
  std::string host;
  std::uint16_t port = 0;  // port on which it listens
  std::vector<NetworkCard> cards;
  friend bool operator==(const Introduction&, const Introduction&) = default;
};
// "h1 43211 eth0=10.0.0.1 docker0=172.17.0.1", below 1,000 bytes: cards that do not fit are left
// out.
std::string to_text(const Introduction& introduction);
std::optional<Introduction> parse_introduction(const std::string& text);

// A listening port chosen by the system, open as long as this lives. Others may connect; nothing is
// sent. At most as many at once as the system queues, which is 128 on older ones.
class Doorbell {
 public:
  Doorbell();
  std::uint16_t port() const noexcept { return port_; }  // 0: the system has none

 private:
  Fd socket_;
  std::uint16_t port_ = 0;
};

enum class Reach : std::uint8_t {
  kUnknown,  // not tried: no socket, or no address
  kAnswers,
  kRefuses,
  kSilent,  // or there is no route
  kOwn,     // this machine has the address too: packets stay here
};

// A machine, and the results for its cards.
struct Tried {
  Introduction machine;
  std::vector<Reach> reach;
};
// Tries all cards of all machines at once, for this many seconds.
std::vector<Tried> try_machines(std::vector<Introduction> others, std::span<const NetworkCard> own,
                                double seconds);

// Sentences about machines with a card that does not answer, one for machines with the same
// results: "h1 reaches h2 by eth0 10.0.0.2, but not by docker0 172.17.0.1, whose address h1 has
// too". Without addresses if it is about several machines. Machines with an untried card are left
// out. Pure.
std::vector<std::string> reach_sentences(const std::string& host, std::span<const Tried> others);

}  // namespace winnow::tools
