#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/file.h"
#include "tools/startup_watch.h"

namespace winnow::tools {

// Which machines of a job reach each other, where MPI does not connect them: each listens at a
// port, is told the addresses of the others by the launcher, and tries them.

// What a machine says of itself.
struct Introduction {
  std::string host;
  std::uint16_t port = 0;  // where it listens
  std::vector<NetworkCard> cards;
  friend bool operator==(const Introduction&, const Introduction&) = default;
};
// "h1 43211 eth0=10.0.0.1 docker0=172.17.0.1", of under 1,000 bytes: cards that it has no room for
// are left out.
std::string to_text(const Introduction& introduction);
std::optional<Introduction> parse_introduction(const std::string& text);

// A port of this machine that the system chooses, as long as this lives. Others may connect, and
// are not spoken to: as many at once as the system holds, which is 128 on older ones.
class Doorbell {
 public:
  Doorbell();
  std::uint16_t port() const noexcept { return port_; }  // 0: the system gives none

 private:
  Fd socket_;
  std::uint16_t port_ = 0;
};

enum class Reach : std::uint8_t {
  kUnknown,  // not tried: the system gives no socket, or it is no address
  kAnswers,
  kRefuses,
  kSilent,  // or there is no way to it
  kOwn,     // this machine has the address too: what is sent there stays here
};

// A machine, and what came of its cards.
struct Tried {
  Introduction machine;
  std::vector<Reach> reach;
};
// All cards of all machines, at once, for so many seconds.
std::vector<Tried> try_machines(std::vector<Introduction> others, std::span<const NetworkCard> own,
                                double seconds);

// A sentence for machines to whose cards the same happened, of those that have one that does not
// answer: "h1 reaches h2 by eth0 10.0.0.2, but not by docker0 172.17.0.1, whose address h1 has
// too". Of several machines it has no addresses. None of a machine with a card that was not tried.
// Pure.
std::vector<std::string> reach_sentences(const std::string& host, std::span<const Tried> others);

}  // namespace winnow::tools
