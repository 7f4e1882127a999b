#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "app/metrics/exposition.h"
#include "app/metrics/metrics_outlet.h"
#include "common/error.h"
#include "common/file.h"

namespace winnow::app::metrics_test {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kRun = "00112233aabbccdd";

train::LoggedLine line_of(std::int64_t step, std::map<std::string, double> values,
                          const train::RankTable* ranks = nullptr) {
  return {.run = kRun,
          .row = {.step = step, .epoch = 0.5, .wall = 12, .values = std::move(values)},
          .ranks = ranks};
}

train::RankTable two_ranks() {
  train::RankTable ranks{.hosts = {"h1", "h2"}, .figures = {{}, {}}};
  ranks.figures[0] = {.compute = 1, .data_wait = 0.25, .received = 100, .sent = 200, .memory = 5e8};
  ranks.figures[1] = {.compute = 2, .received = 200, .sent = 100, .memory = 6e8};
  return ranks;
}

TEST(Exposition, IsAnEmptyOneBeforeTheFirstLine) {
  EXPECT_EQ(exposition({}), "# winnow: no step has been measured yet\n");
}

TEST(Exposition, HasTypeAndHelpOfEveryMetricOnceBeforeItsSeries) {
  MetricsState state;
  train::RankTable ranks = two_ranks();
  ranks.figures[1].temperature = 51.5;
  enter(state, line_of(50, {{"train.loss", 1.5}, {"train.lr", 0.1}, {"ranks.slowest", 1}}, &ranks),
        1.5e9);
  enter(state, line_of(50, {{"val.top1", 0.25}, {"val.loss", 2}}), 1.5e9 + 1);
  std::istringstream text(exposition(state));
  std::set<std::string> types;
  std::set<std::string> series;
  std::string current;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("# HELP ")) {
      current = line.substr(7, line.find(' ', 7) - 7);
      EXPECT_TRUE(types.insert(current).second) << line;
      std::getline(text, line);
      const bool counts = current.ends_with("_total");
      EXPECT_EQ(line, "# TYPE " + current + (counts ? " counter" : " gauge"));
      continue;
    }
    EXPECT_THAT(line, StartsWith(current + "{run=\"" + kRun + "\""));
    EXPECT_TRUE(series.insert(line.substr(0, line.rfind(' '))).second) << line;
  }
  for (const char* name : {"winnow_loss{run=\"00112233aabbccdd\",split=\"train\"}",
                           "winnow_loss{run=\"00112233aabbccdd\",split=\"val\"}",
                           "winnow_slowest_rank{run=\"00112233aabbccdd\"}",
                           "winnow_rank_temperature_celsius{run=\"00112233aabbccdd\",rank=\"1\","
                           "host=\"h2\"}"}) {
    EXPECT_TRUE(series.contains(name)) << name;
  }
  EXPECT_EQ(types.count("winnow_rank_temperature_celsius"), 1U);
  EXPECT_THAT(exposition(state), HasSubstr("_seconds{run=\"00112233aabbccdd\"} 1500000001\n"));
}

TEST(Exposition, CountersAddUpIntervalsAndGaugesHaveTheNewest) {
  MetricsState state;
  train::RankTable ranks = two_ranks();
  enter(state, line_of(50, {{"train.loss", 1.5}}, &ranks), 1);
  enter(state, line_of(60, {{"val.loss", 7}}), 2);  // belongs to no interval
  ranks.figures[0].memory = 7e8;
  enter(state, line_of(100, {{"train.loss", 1.25}}, &ranks), 3);
  const std::string text = exposition(state);
  const std::string first = "{run=\"00112233aabbccdd\",rank=\"0\",host=\"h1\"} ";
  EXPECT_THAT(text, HasSubstr("winnow_steps_total{run=\"00112233aabbccdd\"} 100\n"));
  EXPECT_THAT(text, HasSubstr("winnow_rank_compute_seconds_total" + first + "2\n"));
  EXPECT_THAT(text, HasSubstr("winnow_rank_data_wait_seconds_total" + first + "0.5\n"));
  EXPECT_THAT(text, HasSubstr("winnow_rank_received_bytes_total" + first + "200\n"));
  EXPECT_THAT(text, HasSubstr("winnow_rank_memory_peak_bytes" + first + "700000000\n"));
  EXPECT_THAT(text, HasSubstr("split=\"train\"} 1.25\n"));
  EXPECT_THAT(text, HasSubstr("split=\"val\"} 7\n"));
  EXPECT_THAT(text, Not(HasSubstr("temperature")));
}

TEST(Exposition, AnotherRunBeginsAnew) {
  MetricsState state;
  const train::RankTable ranks = two_ranks();
  enter(state, line_of(50, {{"val.loss", 1.5}}, &ranks), 1);
  train::LoggedLine next = line_of(5, {{"train.loss", 2}}, &ranks);
  next.run = "ffffffffffffffff";
  enter(state, next, 2);
  const std::string text = exposition(state);
  EXPECT_THAT(text, Not(HasSubstr(kRun)));
  EXPECT_THAT(text, Not(HasSubstr("split=\"val\"")));
  EXPECT_THAT(text, HasSubstr("rank=\"0\",host=\"h1\"} 1\n"));
}

TEST(Exposition, LabelsAreEscapedAndNumbersAreThoseOfPrometheus) {
  MetricsState state;
  train::RankTable ranks{.hosts = {"a\"b\\c\nd\xff"}, .figures = {{}}};
  enter(state,
        line_of(1,
                {{"train.gradient_norm", std::numeric_limits<double>::quiet_NaN()},
                 {"train.loss", std::numeric_limits<double>::infinity()},
                 {"train.lr", 1e-20}},
                &ranks),
        1);
  const std::string text = exposition(state);
  EXPECT_THAT(text, HasSubstr("host=\"a\\\"b\\\\c\\nd\xee\xbf\xbf\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("winnow_gradient_norm{run=\"00112233aabbccdd\"} NaN\n"));
  EXPECT_THAT(text, HasSubstr("split=\"train\"} +Inf\n"));
  EXPECT_THAT(text, HasSubstr("winnow_learning_rate{run=\"00112233aabbccdd\"} 1e-20\n"));
}

class Outlet : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("winnow-metrics-" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::unique_ptr<MetricsOutlet> make(const MetricsOutletOptions& options) {
    return std::make_unique<MetricsOutlet>(options, [this](const std::string& sentence) {
      const std::lock_guard lock(mutex_);
      said_.push_back(sentence);
    });
  }

  static int port_of(const MetricsOutlet& outlet) {
    const std::string address = outlet.address();
    return std::stoi(address.substr(address.rfind(':') + 1));
  }

  static std::string ask(int port, const std::string& head) {
    const Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) return "none";
    ::send(fd.get(), head.data(), head.size(), MSG_NOSIGNAL);
    std::string reply;
    std::array<char, 4096> buffer{};
    for (;;) {
      const ssize_t got = ::recv(fd.get(), buffer.data(), buffer.size(), 0);
      if (got <= 0) return reply;
      reply.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }
  static std::string get(int port, const std::string& path, const std::string& host) {
    return ask(port, "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
  }

  fs::path folder_;
  std::mutex mutex_;
  std::vector<std::string> said_;
};

TEST_F(Outlet, FileHasTheLastLineWhenTheRunIsOver) {
  const fs::path file = folder_ / "winnow.prom";
  const train::RankTable ranks = two_ranks();
  auto outlet = make({.file = file});
  EXPECT_EQ(outlet->address(), "");
  EXPECT_THAT(read_text(file), StartsWith("# winnow"));
  for (int step = 1; step <= 100; ++step) outlet->take(line_of(step, {{"train.lr", 1}}, &ranks));
  outlet.reset();
  const std::string text = read_text(file);
  EXPECT_THAT(text, HasSubstr("winnow_steps_total{run=\"00112233aabbccdd\"} 100\n"));
  EXPECT_THAT(text, HasSubstr("rank=\"1\",host=\"h2\"} 200\n"));
  EXPECT_TRUE(said_.empty());
  EXPECT_FALSE(fs::exists(folder_ / "winnow.prom.tmp"));
}

TEST_F(Outlet, FileThatCannotBeIsRefusedAndOneThatIsLostIsSaidOnce) {
  EXPECT_THROW(make({.file = folder_ / "none" / "winnow.prom"}), UsageError);
  EXPECT_THROW(make({.file = folder_}), UsageError);
  fs::create_directory(folder_ / "there");
  auto outlet = make({.file = folder_ / "there" / "winnow.prom"});
  fs::remove_all(folder_ / "there");
  for (int step = 1; step <= 3; ++step) outlet->take(line_of(step, {}));
  outlet.reset();
  ASSERT_EQ(said_.size(), 1U);
  EXPECT_THAT(said_[0], StartsWith("--metrics-file: cannot write "));
  EXPECT_THAT(said_[0], HasSubstr("the run continues"));
}

TEST_F(Outlet, ServesTheNewestLineToThisMachineAlone) {
  auto outlet = make({.port = 0});
  const int port = port_of(*outlet);
  const std::string host = "127.0.0.1:" + std::to_string(port);
  EXPECT_THAT(outlet->address(), StartsWith("http://" + host + "/metrics"));
  EXPECT_THAT(get(port, "/metrics", host), HasSubstr("no step has been measured"));
  outlet->take(line_of(7, {{"train.lr", 0.5}}));
  const std::string reply = get(port, "/metrics", "localhost:9");  // as through a tunnel
  EXPECT_THAT(reply, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(reply, HasSubstr("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  EXPECT_THAT(reply, HasSubstr("winnow_learning_rate{run=\"00112233aabbccdd\"} 0.5\n"));
  EXPECT_THAT(get(port, "/metrics?a=b", host), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(get(port, "/", host), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(get(port, "/metrics", "evil.example"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(ask(port, "POST /metrics HTTP/1.1\r\nHost: " + host + "\r\n\r\n"),
              StartsWith("HTTP/1.1 405"));
}

TEST_F(Outlet, TakenPortIsRefusedByTheNameOfItsFlag) {
  const auto outlet = make({.port = 0});
  try {
    make({.port = port_of(*outlet)});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), StartsWith("--metrics-port: port "));
  }
}

TEST_F(Outlet, EndsWhileSomebodyIsConnectedAndSaysNothing) {
  auto outlet = make({.port = 0});
  const Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port_of(*outlet)));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  const int port = port_of(*outlet);
  outlet.reset();
  EXPECT_EQ(get(port, "/metrics", "localhost"), "none");
}

}  // namespace winnow::app::metrics_test
