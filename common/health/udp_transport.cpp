#include "common/health/udp_transport.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/errqueue.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "common/error.h"

namespace winnow::health {
namespace {

constexpr std::size_t kMostBytes = 2048;   // maximum size of a datagram
constexpr std::size_t kMostAtOnce = 4096;  // datagrams per receive()
constexpr int kReceiveBytes = 4 << 20;     // requested buffer: answers are lost if it is full

Address address_of(std::uint32_t ip, std::uint16_t port) { return Address{ip} << 16 | port; }
Address address_of(const sockaddr_in& from) {
  return address_of(ntohl(from.sin_addr.s_addr), ntohs(from.sin_port));
}

sockaddr_in socket_address(Address address) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(static_cast<std::uint32_t>(address >> 16));
  to.sin_port = htons(static_cast<std::uint16_t>(address & 0xFFFF));
  return to;
}

// A socket on a port chosen by the system.
Fd bound_socket(std::uint16_t& port) {
  Fd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) throw_errno("cannot make a UDP socket for heartbeats");
  sockaddr_in address = socket_address(address_of(INADDR_ANY, 0));
  socklen_t size = sizeof(address);
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  if (::bind(fd.get(), raw, size) != 0 || ::getsockname(fd.get(), raw, &size) != 0) {
    throw_errno("cannot bind a UDP socket for heartbeats");
  }
  port = ntohs(address.sin_port);
  return fd;
}

std::vector<std::uint32_t> own_addresses() {
  std::vector<std::uint32_t> found;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return found;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    const bool is_up = (one->ifa_flags & IFF_UP) != 0 && (one->ifa_flags & IFF_LOOPBACK) == 0;
    if (!is_up || one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    sockaddr_in address{};
    std::memcpy(&address, one->ifa_addr, sizeof(address));
    if (found.size() < kMostAddresses) found.push_back(ntohl(address.sin_addr.s_addr));
  }
  return found;
}

class UdpTransport final : public Transport {
 public:
  UdpTransport(UdpPorts ports, std::vector<Endpoint> peers)
      : ports_(std::move(ports)),
        peers_(std::move(peers)),
        confirmed_(peers_.size()),
        wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    if (!wake_) throw_errno("cannot make an eventfd for heartbeats");
  }

  void send(int rank, BytesView message, bool everywhere) noexcept override {
    const Endpoint& peer = peers_[static_cast<std::size_t>(rank)];
    const std::optional<Address>& at = confirmed_[static_cast<std::size_t>(rank)];
    if (at) send_to(*at, message);
    if (at && !everywhere) return;
    for (const std::uint32_t ip : peer.addresses) {
      if (peer.port != 0 && at != address_of(ip, peer.port)) {
        send_to(address_of(ip, peer.port), message);
      }
    }
  }

  bool probe(int rank) noexcept override {
    const std::optional<Address>& at = confirmed_[static_cast<std::size_t>(rank)];
    return at && send_to(probe_address(rank, *at), {});
  }

  void confirm(int rank, Address from) noexcept override {
    confirmed_[static_cast<std::size_t>(rank)] = from;
  }

  void wake() noexcept override {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(wake_.get(), &one, sizeof(one));
  }

  std::vector<Heard> receive(std::chrono::milliseconds patience) override {
    std::array<pollfd, 2> fds{{{ports_.socket(), POLLIN, 0}, {wake_.get(), POLLIN, 0}}};
    ::poll(fds.data(), fds.size(), static_cast<int>(std::max<std::int64_t>(0, patience.count())));
    std::uint64_t woken = 0;
    [[maybe_unused]] const auto read = ::read(wake_.get(), &woken, sizeof(woken));
    std::vector<Heard> heard;
    while (heard.size() < kMostAtOnce && (take_refusal(heard) || take_message(heard))) continue;
    return heard;
  }

 private:
  Address probe_address(int rank, Address at) const {
    const Endpoint& peer = peers_[static_cast<std::size_t>(rank)];
    return address_of(static_cast<std::uint32_t>(at >> 16), peer.probe_port);
  }

  // Sends a message, retrying if the call reports the failure of an earlier one (to any rank).
  // False: not sent, for example without a route.
  bool send_to(Address address, BytesView message) noexcept {
    const sockaddr_in to = socket_address(address);
    for (int i = 0; i < 4; ++i) {
      if (::sendto(ports_.socket(), message.data(), message.size(), 0,
                   reinterpret_cast<const sockaddr*>(&to), sizeof(to)) >= 0) {
        return true;
      }
      if (errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM || errno == EPERM) return false;
    }
    return true;
  }

  // False: there is none.
  bool take_message(std::vector<Heard>& heard) {
    sockaddr_in from{};
    socklen_t size = sizeof(from);
    const ssize_t bytes = ::recvfrom(ports_.socket(), buffer_.data(), buffer_.size(), MSG_TRUNC,
                                     reinterpret_cast<sockaddr*>(&from), &size);
    if (bytes < 0) {  // error of an earlier message: others may have arrived
      return errno == ECONNREFUSED || errno == EHOSTUNREACH || errno == ENETUNREACH ||
             errno == EINTR;
    }
    if (static_cast<std::size_t>(bytes) > buffer_.size()) return true;
    heard.push_back(
        {.from = address_of(from), .bytes = Bytes(buffer_.begin(), buffer_.begin() + bytes)});
    return true;
  }

  bool take_refusal(std::vector<Heard>& heard) {
    sockaddr_in to{};
    std::array<std::byte, 64> payload{};
    alignas(cmsghdr) std::array<std::byte, 512> control{};
    iovec part{payload.data(), payload.size()};
    msghdr message{};
    message.msg_name = &to;
    message.msg_namelen = sizeof(to);
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    if (::recvmsg(ports_.socket(), &message, MSG_ERRQUEUE) < 0) return false;
    for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
      if (c->cmsg_level != IPPROTO_IP || c->cmsg_type != IP_RECVERR) continue;
      sock_extended_err error{};
      std::memcpy(&error, CMSG_DATA(c), sizeof(error));
      if (error.ee_origin == SO_EE_ORIGIN_ICMP && error.ee_errno == ECONNREFUSED) {
        tell_refusal(address_of(to), heard);
      }
    }
    return true;
  }

  // A refusal only means something for an address at which a rank was heard: its other addresses,
  // such as those of bridges, may also belong to other machines.
  void tell_refusal(Address to, std::vector<Heard>& heard) const {
    for (int r = 0; r < static_cast<int>(peers_.size()); ++r) {
      const std::optional<Address>& at = confirmed_[static_cast<std::size_t>(r)];
      if (!at) continue;
      if (to == *at) heard.push_back({.kind = Heard::Kind::kRefused, .rank = r});
      if (to == probe_address(r, *at)) heard.push_back({.kind = Heard::Kind::kAnswered, .rank = r});
    }
  }

  const UdpPorts ports_;
  const std::vector<Endpoint> peers_;
  std::vector<std::optional<Address>> confirmed_;  // address at which each rank was heard
  const Fd wake_;
  std::array<std::byte, kMostBytes> buffer_{};
};

}  // namespace

UdpPorts::UdpPorts() {
  socket_ = bound_socket(endpoint_.port);
  const int on = 1;
  if (::setsockopt(socket_.get(), IPPROTO_IP, IP_RECVERR, &on, sizeof(on)) != 0) {
    throw_errno("cannot ask for ICMP's messages on a UDP socket for heartbeats");
  }
  const int bytes = kReceiveBytes;
  // Or as much as allowed.
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
  probed_ = bound_socket(endpoint_.probe_port);
  const sockaddr_in self = socket_address(address_of(INADDR_LOOPBACK, endpoint_.probe_port));
  if (::connect(probed_.get(), reinterpret_cast<const sockaddr*>(&self), sizeof(self)) != 0) {
    throw_errno("cannot connect a UDP socket for heartbeats");
  }
  endpoint_.addresses = own_addresses();
}

std::unique_ptr<Transport> make_udp_transport(UdpPorts ports, std::vector<Endpoint> peers) {
  return std::make_unique<UdpTransport>(std::move(ports), std::move(peers));
}

}  // namespace winnow::health
