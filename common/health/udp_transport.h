#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/file.h"
#include "common/health/transport.h"

namespace winnow::health {

// Where a rank hears messages. Numbers are the host's.
struct Endpoint {
  std::uint16_t port = 0;                  // 0: nowhere
  std::uint16_t probe_port = 0;            // nobody hears there, so its machine refuses what comes
  std::vector<std::uint32_t> addresses{};  // IPv4, of its machine; at most kMostAddresses
};
inline constexpr std::size_t kMostAddresses = 4;

// The two ports of a rank, held as long as it lives.
class UdpPorts {
 public:
  UdpPorts();  // throws SystemError
  const Endpoint& endpoint() const noexcept { return endpoint_; }
  int socket() const noexcept { return socket_.get(); }

 private:
  Fd socket_;
  Fd probed_;  // hears only itself
  Endpoint endpoint_;
};

// Datagrams over IPv4, at most 2 KiB each. That a process is gone, and that a machine is there, say
// the ICMP messages by which the machine refuses datagrams for ports where nobody hears.
//
// In  `peers`: of each rank; ranks of this machine first of all at the loopback address
std::unique_ptr<Transport> make_udp_transport(UdpPorts ports, std::vector<Endpoint> peers);

}  // namespace winnow::health
