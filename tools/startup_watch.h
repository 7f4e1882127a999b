#pragma once

#include <condition_variable>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace winnow::tools {

// A network card of this machine with an address of the internet protocol, version 4.
struct NetworkCard {
  std::string name;     // "eth0"
  std::string address;  // "10.0.0.1"
  friend bool operator==(const NetworkCard&, const NetworkCard&) = default;
};

// Those that are up, but for the loopback.
std::vector<NetworkCard> network_cards();

// Whether this process, which a launcher started, speaks for its machine to others: it is the first
// rank there, and ranks are on several machines, as far as the launcher says.
bool speaks_for_machine();
// Whether that is Open MPI's.
bool launched_by_open_mpi();

// What is said where MPI connects for so many seconds: the machine and its cards, and of cards that
// lead to no other machine, as those of containers, that MPI may have taken them; and, by Open MPI,
// the flag that names cards. Pure.
std::string startup_sentence(const std::string& host, std::span<const NetworkCard> cards,
                             double seconds, bool by_open_mpi);

// While it lives MPI connects the ranks: nothing of winnow's own can tell who waits for whom yet,
// and where two machines have cards of one address, MPI may wait for ever.
//
// warning       Seconds until the first rank of each machine says startup_sentence(). 0: never
// timeout       Seconds until the process ends, with exit code 1, warned or not. 0: never
// timeout_flag  Which sets the timeout, for the sentence at the end. Empty: none does
// Threads       One of its own
class StartupWatch {
 public:
  StartupWatch(double warning_s, double timeout_s, std::string timeout_flag);
  ~StartupWatch();
  StartupWatch(const StartupWatch&) = delete;
  StartupWatch& operator=(const StartupWatch&) = delete;

 private:
  void watch(double warning_s, double timeout_s);

  std::string timeout_flag_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace winnow::tools
