#include "common/health/udp_transport.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <thread>

namespace winnow::health::udp_transport_test {

using std::chrono::milliseconds;
constexpr std::uint32_t kLoopback = 0x7F000001;

// Two ranks on this machine.
struct Pair {
  UdpPorts one_ports{};
  UdpPorts two_ports{};
  Endpoint one_at{here(one_ports)};
  Endpoint two_at{here(two_ports)};
  std::unique_ptr<Transport> one{make_udp_transport(std::move(one_ports), {{}, two_at})};
  std::unique_ptr<Transport> two{make_udp_transport(std::move(two_ports), {one_at, {}})};

  static Endpoint here(const UdpPorts& ports) {
    Endpoint endpoint = ports.endpoint();
    endpoint.addresses = {kLoopback};
    return endpoint;
  }
};

// Collects messages until `enough` holds, or for some minutes.
std::vector<Heard> listen(Transport& transport,
                          const std::function<bool(const std::vector<Heard>&)>& enough) {
  std::vector<Heard> all;
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(3);
  while (!enough(all) && std::chrono::steady_clock::now() < end) {
    for (Heard& heard : transport.receive(milliseconds(1000))) all.push_back(std::move(heard));
  }
  return all;
}

bool has(const std::vector<Heard>& heard, Heard::Kind kind) {
  return std::ranges::any_of(heard, [&](const Heard& h) { return h.kind == kind; });
}
const auto kAnyMessage = [](const auto& all) { return has(all, Heard::Kind::kMessage); };

Bytes text(std::string_view words) {
  const BytesView bytes = as_bytes(words);
  return {bytes.begin(), bytes.end()};
}

// This machine delivers datagrams to itself in the order of sending, refusals included. So what
// arrives before this datagram was caused earlier.
void send_raw(std::uint16_t port, std::size_t size) {
  const int fd = ::socket(AF_INET, SOCK_DGRAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(kLoopback);
  to.sin_port = htons(port);
  const Bytes bytes(size);
  ::sendto(fd, bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr*>(&to), sizeof(to));
  ::close(fd);
}

TEST(UdpTransport, CarriesMessagesBothWays) {
  Pair pair;
  pair.one->send(1, text("how are you"), false);
  const auto heard = listen(*pair.two, kAnyMessage);
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_EQ(as_text(heard[0].bytes), "how are you");
  pair.two->confirm(0, heard[0].from);
  pair.two->send(0, text("well"), true);
  const auto back = listen(*pair.one, kAnyMessage);
  ASSERT_EQ(back.size(), 1U);  // once, if the known address is one of those announced
  EXPECT_EQ(as_text(back[0].bytes), "well");
}

TEST(UdpTransport, AProcessThatSaysNothingIsOnAMachineThatAnswers) {
  Pair pair;
  pair.two->send(0, text("here"), false);
  const auto heard = listen(*pair.one, kAnyMessage);
  ASSERT_EQ(heard.size(), 1U);
  pair.one->probe(1);  // a machine is not asked before it was heard
  send_raw(pair.one_at.port, 1);
  EXPECT_EQ(listen(*pair.one, kAnyMessage).size(), 1U);
  pair.one->confirm(1, heard[0].from);
  pair.one->send(1, text("a message that nobody reads"), false);
  pair.one->probe(1);
  const auto after =
      listen(*pair.one, [](const auto& all) { return has(all, Heard::Kind::kAnswered); });
  ASSERT_EQ(after.size(), 1U);
  EXPECT_EQ(after[0].kind, Heard::Kind::kAnswered);
  EXPECT_EQ(after[0].rank, 1);
}

TEST(UdpTransport, AProcessThatIsGoneIsRefused) {
  Pair pair;
  pair.two->send(0, text("here"), false);
  const auto heard = listen(*pair.one, kAnyMessage);
  ASSERT_EQ(heard.size(), 1U);
  pair.one->confirm(1, heard[0].from);
  pair.two.reset();
  pair.one->send(1, text("are you there"), false);
  const auto after =
      listen(*pair.one, [](const auto& all) { return has(all, Heard::Kind::kRefused); });
  ASSERT_TRUE(has(after, Heard::Kind::kRefused));
  EXPECT_EQ(after[0].rank, 1);
  pair.one->send(1, text("still"), true);  // a refusal does not end the transport
  EXPECT_TRUE(
      has(listen(*pair.one, [](const auto& all) { return has(all, Heard::Kind::kRefused); }),
          Heard::Kind::kRefused));
}

TEST(UdpTransport, AnAddressThatRefusesIsNoDeadRankWhereItWasNeverHeard) {
  Pair pair;
  pair.two.reset();
  pair.one->send(1, text("are you there"), false);
  send_raw(pair.one_at.port, 1);
  const auto heard = listen(*pair.one, kAnyMessage);
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_EQ(heard[0].kind, Heard::Kind::kMessage);
}

TEST(UdpTransport, TakesDatagramsOfAnyLengthAndKeepsNoneThatIsTooLong) {
  Pair pair;
  constexpr std::size_t kLast = 7;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{2048},
                                 std::size_t{2049}, std::size_t{60'000}, kLast}) {
    send_raw(pair.one_at.port, size);
  }
  std::vector<std::size_t> sizes;
  for (const Heard& heard : listen(*pair.one, [](const auto& all) {
         return !all.empty() && all.back().bytes.size() == kLast;
       })) {
    sizes.push_back(heard.bytes.size());
  }
  EXPECT_EQ(sizes, (std::vector<std::size_t>{0, 1, 2048, kLast}));
}

TEST(UdpTransport, IsWokenByOtherThreads) {
  Pair pair;
  const auto begin = std::chrono::steady_clock::now();
  std::thread waker([&] { pair.one->wake(); });
  EXPECT_TRUE(pair.one->receive(std::chrono::minutes(4)).empty());
  waker.join();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::minutes(3))
      << "it was not woken";
}

TEST(UdpTransport, ManyMessagesAtOnceAreTakenInParts) {
  Pair pair;
  for (int i = 0; i < 100; ++i) pair.one->send(1, text("message"), false);
  const auto heard = listen(*pair.two, [](const auto& all) { return all.size() >= 100; });
  EXPECT_EQ(heard.size(), 100U);
}

}  // namespace winnow::health::udp_transport_test
