#pragma once

#include <condition_variable>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace winnow::tools {

// A network card of this machine with an IPv4 address.
struct NetworkCard {
  std::string name;     // "eth0"
  std::string address;  // "10.0.0.1"
  friend bool operator==(const NetworkCard&, const NetworkCard&) = default;
};

// The network cards of this machine that are up, without the loopback.
std::vector<NetworkCard> network_cards();

// Whether this process is the one that speaks for its machine: it is the first rank there, and
// ranks are on several machines, as far as the launcher says.
bool speaks_for_machine();
// Whether this process was launched by Open MPI.
bool launched_by_open_mpi();

// The message when MPI has been connecting for `seconds` seconds: the machine and its network
// cards. Cards that lead to no other machine, such as those for containers, are pointed out,
// because MPI may use them; with Open MPI, also the option that selects cards. Pure.
std::string startup_sentence(const std::string& host, std::span<const NetworkCard> cards,
                             double seconds, bool by_open_mpi);

// Watches while MPI connects the ranks. Until then winnow cannot tell which rank waits for which.
// If two machines have cards with the same address, MPI may wait for ever.
//
// warning_s     seconds until the first rank of each machine prints startup_sentence(); 0: never
// timeout_s     seconds until the process ends, with exit code 1, with or without a warning; 0:
//               never
// timeout_flag  option that sets the timeout, for the last message; empty: none
// Threads       one of its own
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
