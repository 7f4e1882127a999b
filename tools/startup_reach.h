#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/file.h"
#include "tools/startup_watch.h"

namespace winnow::tools {

// Finds out which machines of a job can reach each other, for when MPI does not connect them: each
// listens on a port, gets the addresses of the others from the launcher, and tries to connect.

// The message by which a machine tells the others its addresses.
struct Introduction {
  std::string host;
  std::uint16_t port = 0;  // port on which the machine listens
  std::vector<NetworkCard> cards;
  friend bool operator==(const Introduction&, const Introduction&) = default;
};
// The message as text: "h1 43211 eth0=10.0.0.1 docker0=172.17.0.1", below 1,000 bytes; cards that
// do not fit are left out. And its parser.
std::string to_text(const Introduction& introduction);
std::optional<Introduction> parse_introduction(const std::string& text);

// A listening port chosen by the system, open as long as the object lives. Other machines may
// connect; nothing is sent. As many can connect at once as the system queues, 128 on older ones.
class Doorbell {
 public:
  Doorbell();
  std::uint16_t port() const noexcept { return port_; }  // 0: the system gave no port

 private:
  Fd socket_;
  std::uint16_t port_ = 0;
};

// The result of trying to connect to an address.
enum class Reach : std::uint8_t {
  kUnknown,  // not tried: no socket, or no address
  kAnswers,
  kRefuses,
  kSilent,  // no answer, or no route
  kOwn,     // this machine has the address, too: packets stay here
};

// A machine, and the result for each of its network cards.
struct Tried {
  Introduction machine;
  std::vector<Reach> reach;
};
// Tries the addresses of all cards of all machines at once, for `seconds` seconds.
std::vector<Tried> try_machines(std::vector<Introduction> others, std::span<const NetworkCard> own,
                                double seconds);

// Sentences about machines with a card that does not answer, one for all machines with the same
// results: "h1 reaches h2 by eth0 10.0.0.2, but not by docker0 172.17.0.1, whose address h1 has
// too". Without addresses if it is about several machines. Machines with an untried card are left
// out. Pure.
std::vector<std::string> reach_sentences(const std::string& host, std::span<const Tried> others);

}  // namespace winnow::tools
