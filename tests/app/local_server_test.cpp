#include "app/review/local_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "app/review/socket_stream_internal.h"
#include "common/error.h"
#include "common/file.h"

namespace winnow::app::local_server_test {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// A test that waits for something that never comes fails after this time.
constexpr std::chrono::minutes kPatience{2};

bool eventually(const std::function<bool()>& holds) {
  const auto until = steady_clock::now() + kPatience;
  while (!holds()) {
    if (steady_clock::now() > until) return false;
    std::this_thread::sleep_for(milliseconds(1));
  }
  return true;
}

// A server on its own thread, which answers with the request. Its clock stands still until a test
// starts it; then it advances by a tenth of a second at each reading. A server that waits for a
// browser reads the clock every tenth of a second.
class LocalServerTest : public testing::Test {
 protected:
  void start(LocalServerOptions options = {}) {
    const auto clock = [this] {
      const int looks = clock_goes_ ? ++looks_ : looks_.load();
      return steady_clock::time_point(std::chrono::hours(1)) + looks * milliseconds(100);
    };
    server_ = std::make_unique<LocalServer>(
        options,
        [this](const WebRequest& request) {
          ++answered_;
          looks_at_answer_ = looks_.load();
          if (request.path == "usage") throw UsageError("no such thing");
          if (request.path == "disk") throw SystemError("cannot write: No space left on device");
          if (request.path == "large") return WebReply{.body = std::string(64U << 20, 'x')};
          std::string body =
              (request.is_post ? "POST " : "GET ") + request.path + ";" + request.body;
          for (const auto& [name, value] : request.parameters) body += "," + name + "=" + value;
          return WebReply{.body = body};
        },
        clock);
    const std::string address = server_->address();
    const std::size_t slash = address.find('/', 7);
    host_ = address.substr(7, slash - 7);
    base_ = address.substr(slash);
    port_ = std::stoi(host_.substr(host_.find(':') + 1));
    thread_ = std::thread([this] {
      server_->serve([this] { return ends_.load(); });
      ended_ = true;
    });
  }
  void TearDown() override {
    ends_ = true;
    clock_goes_ = true;
    if (thread_.joinable()) thread_.join();
  }

  Fd connect_to() const {
    Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port_));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) return {};
    return fd;
  }
  static void send_all(const Fd& fd, std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = ::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  static std::string receive_all(const Fd& fd) {
    std::string text;
    const auto until = steady_clock::now() + kPatience;
    std::vector<char> buffer(1 << 16);
    for (;;) {
      const auto left = std::chrono::duration_cast<milliseconds>(until - steady_clock::now());
      pollfd asked{.fd = fd.get(), .events = POLLIN, .revents = 0};
      if (left.count() <= 0 || ::poll(&asked, 1, static_cast<int>(left.count())) <= 0) return text;
      const ssize_t got = ::recv(fd.get(), buffer.data(), buffer.size(), 0);
      if (got <= 0) return text;
      text.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }
  // Whether there is something to read, or the end.
  static bool has_answer(const Fd& fd) {
    pollfd asked{.fd = fd.get(), .events = POLLIN, .revents = 0};
    return ::poll(&asked, 1, 0) > 0;
  }
  std::string ask(const std::string& request) const {
    const Fd fd = connect_to();
    if (!fd) return "cannot connect";
    send_all(fd, request);
    return receive_all(fd);
  }
  std::string get(const std::string& target, const std::string& host = "") const {
    return ask(request_of(target, host.empty() ? host_ : host));
  }
  static std::string request_of(const std::string& target, const std::string& host) {
    return "GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n";
  }
  std::string post(const std::string& body, const std::string& fields) const {
    return ask("POST " + base_ + "judgements HTTP/1.1\r\nHost: " + host_ + "\r\n" + fields +
               "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  std::string own_fields() const {
    return "Origin: http://" + host_ + "\r\nContent-Type: application/json\r\n";
  }

  std::unique_ptr<LocalServer> server_;
  std::thread thread_;
  std::atomic<bool> ends_{false};
  std::atomic<bool> ended_{false};
  std::atomic<int> answered_{0};
  std::atomic<bool> clock_goes_{false};
  std::atomic<int> looks_{0};  // readings of the clock since it started
  std::atomic<int> looks_at_answer_{0};
  std::string host_;
  std::string base_;  // "/TOKEN/"
  int port_ = 0;
};

int entries(const char* folder) {
  int count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

TEST_F(LocalServerTest, AnswersWhoKnowsTheToken) {
  start();
  EXPECT_EQ(base_.size(), 34U);
  const std::string reply = get(base_ + "groups?first=0&count=2");
  EXPECT_THAT(reply, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(reply, HasSubstr("GET groups;,count=2,first=0"));
  for (const char* field :
       {"Content-Security-Policy: default-src 'none'", "X-Content-Type-Options: nosniff",
        "Connection: close", "Cache-Control: no-store", "Referrer-Policy: no-referrer"}) {
    EXPECT_THAT(reply, HasSubstr(field));
  }
  EXPECT_THAT(reply, Not(HasSubstr("Access-Control")));
  const std::string localhost = "localhost:" + std::to_string(port_);
  EXPECT_THAT(get(base_, localhost), HasSubstr("200 OK"));
  EXPECT_THAT(post("[1]", own_fields()), HasSubstr("POST judgements;[1]"));
}

TEST_F(LocalServerTest, EachHasAnotherToken) {
  const auto answer = [](const WebRequest&) { return WebReply{}; };
  const LocalServer one({}, answer);
  const LocalServer other({}, answer);
  EXPECT_NE(one.address().substr(one.address().find('/', 7)),
            other.address().substr(other.address().find('/', 7)));
}

TEST_F(LocalServerTest, RefusesATakenPort) {
  start();
  EXPECT_THROW(LocalServer({.port = port_}, [](const WebRequest&) { return WebReply{}; }),
               UsageError);
}

TEST_F(LocalServerTest, RefusesOthers) {
  start();
  std::string wrong = base_;
  wrong[5] = wrong[5] == '0' ? '1' : '0';
  for (const std::string& target :
       {wrong, std::string("/"), base_.substr(0, 33), base_.substr(0, 32) + "/", "/x" + base_,
        "http://" + host_ + base_, "/." + base_, "//" + base_.substr(1), std::string("*"),
        "/" + std::string(32, '%') + "/"}) {
    EXPECT_THAT(get(target), Not(HasSubstr("200 OK"))) << target;
  }
  for (const std::string& host :
       {std::string("evil.example"), "evil.example:" + std::to_string(port_),
        std::string("127.0.0.1"), std::string("127.0.0.1:1"), std::string("[::1]:1"),
        "127.0.0.1:" + std::to_string(port_) + ".evil.example", host_ + "\r\nHost: evil.example"}) {
    EXPECT_THAT(get(base_, host), HasSubstr("403")) << host;
  }
  EXPECT_THAT(ask("GET " + base_ + " HTTP/1.1\r\n\r\n"), HasSubstr("403"));
  const std::string json = "Content-Type: application/json\r\n";
  for (const std::string& fields :
       {json, json + "Origin: null\r\n", json + "Origin: http://evil.example\r\n",
        json + "Origin: https://" + host_ + "\r\n", json + "Origin: http://" + host_ + "/\r\n",
        json + "Origin: http://localhost:" + std::to_string(port_) + "\r\n"}) {
    EXPECT_THAT(post("[]", fields), HasSubstr("403")) << fields;
  }
  for (const std::string type : {"", "Content-Type: text/plain\r\n",
                                 "Content-Type: application/x-www-form-urlencoded\r\n"}) {
    EXPECT_THAT(post("[]", "Origin: http://" + host_ + "\r\n" + type), HasSubstr("415")) << type;
  }
  EXPECT_THAT(post("[]", own_fields() + "Content-Encoding: gzip\r\n"), HasSubstr("415"));
  for (const std::string method :
       {"HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "PRI"}) {
    EXPECT_THAT(ask(method + " " + base_ + " HTTP/1.1\r\nHost: " + host_ + "\r\n\r\n"),
                HasSubstr("405"))
        << method;
  }
  EXPECT_EQ(answered_, 0);
}

TEST_F(LocalServerTest, HandsPathsOnAsBytesAndNoFurther) {
  start();
  EXPECT_THAT(get(base_ + "../../etc/passwd"), HasSubstr("GET ../../etc/passwd;"));
  EXPECT_THAT(get(base_ + "%2e%2e%2fx"), HasSubstr("GET ../x;"));
  EXPECT_THAT(get(base_ + "a%00b"), HasSubstr(std::string("GET a\0b;", 8)));
  EXPECT_THAT(get(base_ + std::string(5000, 'a')), HasSubstr("200 OK"));
  EXPECT_THAT(get(base_ + std::string(9000, 'a')), HasSubstr("414"));
  EXPECT_THAT(ask("GET / HTTP/9\r\n\r\n"), HasSubstr("400"));
  EXPECT_THAT(ask(std::string("\0\1\2\xff\r\n\r\n", 8)), HasSubstr("400"));
}

TEST_F(LocalServerTest, SaysWhatWentWrong) {
  start();
  EXPECT_THAT(get(base_ + "usage"), testing::AllOf(HasSubstr("400"), HasSubstr("no such thing")));
  EXPECT_THAT(get(base_ + "disk"), testing::AllOf(HasSubstr("500"), HasSubstr("No space left")));
}

TEST_F(LocalServerTest, TakesNoMoreBytesThanItSays) {
  start({.most_body_bytes = 1000});
  EXPECT_THAT(post(std::string(1000, ' '), own_fields()), HasSubstr("200 OK"));
  EXPECT_THAT(post(std::string(1001, ' '), own_fields()), HasSubstr("413"));
  EXPECT_THAT(post(std::string(10 << 20, ' '), own_fields()), Not(HasSubstr("200 OK")));
  // In pieces that state their sizes, and with a first line and fields that never end.
  std::string chunks;
  for (int i = 0; i < 20000; ++i) chunks += "10\r\n0123456789abcdef\r\n";
  EXPECT_THAT(ask("POST " + base_ + "judgements HTTP/1.1\r\nHost: " + host_ + "\r\n" +
                  own_fields() + "Transfer-Encoding: chunked\r\n\r\n" + chunks + "0\r\n\r\n"),
              Not(HasSubstr("200 OK")));
  EXPECT_THAT(ask("GET " + std::string(10 << 20, 'a')), Not(HasSubstr("200")));
  std::string fields;
  for (int i = 0; i < 100000; ++i) fields += "A: b\r\n";
  EXPECT_THAT(ask("GET " + base_ + " HTTP/1.1\r\nHost: " + host_ + "\r\n" + fields + "\r\n"),
              Not(HasSubstr("200")));
  EXPECT_EQ(answered_, 1);
}

TEST_F(LocalServerTest, RangesAndExpectationsAreLeftAlone) {
  start();
  const std::string reply =
      ask("GET " + base_ + "abc HTTP/1.1\r\nHost: " + host_ +
          "\r\nRange: bytes=0-0,1-1,2-2\r\nExpect: 100-continue\r\nAccept-Encoding: gzip\r\n\r\n");
  EXPECT_THAT(reply, StartsWith("HTTP/1.1 200 OK"));
  EXPECT_THAT(reply, HasSubstr("GET abc;"));
}

TEST_F(LocalServerTest, GivesUpOnWhoSendsSlowly) {
  start({.threads = 1, .request_time = milliseconds(2000)});
  const Fd slow = connect_to();
  const Fd other = connect_to();
  send_all(other, request_of(base_, host_));
  clock_goes_ = true;
  EXPECT_TRUE(eventually([&] {
    send_all(slow, "G");
    return has_answer(slow);
  }));
  EXPECT_THAT(receive_all(other), HasSubstr("200 OK"));
}

// A client that begins a request without finishing it delays others no longer than a silent one.
TEST_F(LocalServerTest, BegunRequestsGiveWay) {
  start({.threads = 1, .idle_time = milliseconds(300), .request_time = milliseconds(10000)});
  const int before = entries("/proc/self/fd");
  std::vector<Fd> slow;
  for (int i = 0; i < 3; ++i) {
    slow.push_back(connect_to());
    send_all(slow.back(), "GET /");
  }
  const Fd other = connect_to();
  send_all(other, request_of(base_, host_));
  const Fd last = connect_to();
  ASSERT_TRUE(eventually([&] { return entries("/proc/self/fd") >= before + 2 * 5; }));
  clock_goes_ = true;
  EXPECT_THAT(receive_all(other), HasSubstr("200 OK"));
  EXPECT_LT(looks_at_answer_, 100);  // the first request alone would take a hundred
}

// The clock stands still, so only the end of the server ends them.
TEST_F(LocalServerTest, EndsWithRequestsBegun) {
  start({.threads = 2});
  std::vector<Fd> slow;
  for (int i = 0; i < 20; ++i) {
    slow.push_back(connect_to());
    send_all(slow.back(), "GET /");
  }
  ends_ = true;
  EXPECT_TRUE(eventually([&] { return ended_.load(); }));
}

TEST_F(LocalServerTest, GivesUpOnWhoReadsSlowly) {
  start({.threads = 1, .reply_time = milliseconds(2000)});
  const Fd slow = connect_to();
  send_all(slow, request_of(base_ + "large", host_));
  const Fd other = connect_to();
  send_all(other, request_of(base_, host_));
  ASSERT_TRUE(eventually([&] { return has_answer(slow); }));
  clock_goes_ = true;
  EXPECT_THAT(receive_all(other), HasSubstr("200 OK"));
  EXPECT_LT(receive_all(slow).size(), std::size_t{64} << 20);
}

TEST_F(LocalServerTest, IdleConnectionsGiveWay) {
  start({.threads = 1, .idle_time = milliseconds(300)});
  const int before = entries("/proc/self/fd");
  std::vector<Fd> idle;
  for (int i = 0; i < 3; ++i) idle.push_back(connect_to());
  const Fd other = connect_to();
  send_all(other, request_of(base_, host_));
  const Fd last = connect_to();
  // Once the last connection has been accepted, the earlier ones are known to wait.
  ASSERT_TRUE(eventually([&] { return entries("/proc/self/fd") >= before + 2 * 5; }));
  clock_goes_ = true;
  EXPECT_THAT(receive_all(other), HasSubstr("200 OK"));
  // Three readings for each, plus some to begin and answer. Without others waiting it would be
  // thirty.
  EXPECT_GE(looks_at_answer_, 3 * 3);
  EXPECT_LT(looks_at_answer_, 30);
}

// A request that has arrived is answered although its owner ends, and the answer can be read.
TEST(SocketStream, WhatIsThereIsReadThoughItsOwnerEnds) {
  std::array<int, 2> sockets{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets.data()), 0);
  const Fd here(sockets[0]);
  const Fd there(sockets[1]);
  SocketStream stream(here.get(),
                      {.request_bytes = 100,
                       .may_come = [](milliseconds) { return false; },
                       .reply_time = milliseconds(1000),
                       .clock = [] { return steady_clock::time_point(std::chrono::hours(1)); }});
  ASSERT_EQ(::send(there.get(), "GET", 3, 0), 3);
  std::array<char, 8> bytes{};
  EXPECT_EQ(stream.read(bytes.data(), bytes.size()), 3);
  EXPECT_FALSE(stream.is_readable());
  EXPECT_EQ(stream.write("yes", 3), 3);
  ASSERT_EQ(::send(there.get(), "more", 4, 0), 4);
  ASSERT_EQ(::shutdown(there.get(), SHUT_WR), 0);
  stream.end();
  EXPECT_EQ(::recv(here.get(), bytes.data(), bytes.size(), MSG_DONTWAIT), 0);  // the end: no bytes
}

// Most of a hundred open connections wait in the kernel, and nothing of them remains. The clock
// stands still, so none times out.
TEST_F(LocalServerTest, HoldsFewOfManyConnections) {
  start({.threads = 4, .most_waiting = 8});
  const int before = entries("/proc/self/fd");
  EXPECT_THAT(get(base_), HasSubstr("200 OK"));
  const int threads = entries("/proc/self/task");
  {
    std::vector<Fd> open;
    int most = 0;
    for (int i = 0; i < 100; ++i) {
      open.push_back(connect_to());
      most = std::max(most, entries("/proc/self/fd") - before - static_cast<int>(open.size()));
    }
    EXPECT_LE(most, 4 + 8 + 1);
    EXPECT_EQ(entries("/proc/self/task"), threads);
  }
  EXPECT_TRUE(eventually([&] { return entries("/proc/self/fd") <= before; }));
  EXPECT_THAT(get(base_), HasSubstr("200 OK"));
}

TEST_F(LocalServerTest, LeavesNothingBehind) {
  start();
  const int before = entries("/proc/self/fd");
  get(base_);
  const int threads = entries("/proc/self/task");
  int good = 0;
  for (int i = 0; i < 10000; ++i) good += get(base_).starts_with("HTTP/1.1 200") ? 1 : 0;
  EXPECT_EQ(good, 10000);
  EXPECT_EQ(entries("/proc/self/task"), threads);
  EXPECT_TRUE(eventually([&] { return entries("/proc/self/fd") <= before; }));
}

// The clock stands still, so no timeout ends them.
TEST_F(LocalServerTest, EndsWithConnectionsOpen) {
  start();
  const Fd idle = connect_to();
  EXPECT_THAT(get(base_), HasSubstr("200 OK"));
  ends_ = true;
  EXPECT_TRUE(eventually([&] { return ended_.load(); }));
}

}  // namespace winnow::app::local_server_test
