#include "app/metrics/metrics_outlet.h"

#include <fmt/core.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

#include "app/metrics/exposition.h"
#include "app/review/local_server.h"
#include "common/error.h"
#include "common/newest_file.h"
#include "common/replace_file.h"

namespace winnow::app {
namespace {

constexpr const char* kType = "text/plain; version=0.0.4; charset=utf-8";

double now() {
  const std::chrono::duration<double> since = std::chrono::system_clock::now().time_since_epoch();
  return since.count();
}

}  // namespace

struct MetricsOutlet::State {
  State(const MetricsOutletOptions& with, std::function<void(std::string)> by)
      : options(with), say(std::move(by)) {}
  ~State() {
    ends = true;
    if (listener.joinable()) listener.join();
  }

  void begin_file();
  void begin_server();
  MetricsState copy() {
    const std::lock_guard lock(mutex);
    return metrics;
  }

  const MetricsOutletOptions options;
  const std::function<void(std::string)> say;
  std::mutex mutex;
  MetricsState metrics;  // by mutex
  std::atomic<bool> ends = false;
  bool lost_file = false;  // used by the file's thread alone: the failure was reported
  std::unique_ptr<LocalServer> server;
  std::thread listener;
  std::unique_ptr<NewestFile> file;  // last: its thread uses the members above
};

void MetricsOutlet::State::begin_file() {
  replaceable(options.file);
  try {
    replace_file(options.file, exposition({}));
  } catch (const SystemError& error) {
    throw UsageError(
        fmt::format("--metrics-file: {}; name a file in an existing folder", error.what()));
  }
  file = std::make_unique<NewestFile>(options.file, [this](const std::exception& error) {
    if (std::exchange(lost_file, true)) return;
    say(fmt::format(
        "--metrics-file: {}; the run continues, and tries again with its next line of metrics",
        error.what()));
  });
}

void MetricsOutlet::State::begin_server() {
  const LocalServerOptions with{
      .port = *options.port, .threads = 2, .most_waiting = 8, .most_body_bytes = 0, .open = true};
  try {
    server = std::make_unique<LocalServer>(with, [this](const WebRequest& request) {
      if (request.path != "metrics") return WebReply{.status = 404, .body = "see /metrics\n"};
      return WebReply{.type = kType, .body = exposition(copy())};
    });
  } catch (const UsageError&) {
    throw UsageError(
        fmt::format("--metrics-port: port {} of 127.0.0.1 is taken; name another, or "
                    "0 for one that is free",
                    *options.port));
  }
  listener = std::thread([this] {
    try {
      server->serve([this] { return ends.load(); });
    } catch (const Error&) {
      say("--metrics-port: connections cannot be accepted any more; the run continues without "
          "them");
    }
  });
}

MetricsOutlet::MetricsOutlet(const MetricsOutletOptions& options,
                             std::function<void(std::string)> say)
    : state_(std::make_unique<State>(options, std::move(say))) {
  if (options.port) state_->begin_server();
  if (!options.file.empty()) state_->begin_file();
}

MetricsOutlet::~MetricsOutlet() = default;

void MetricsOutlet::take(const train::LoggedLine& line) {
  {
    const std::lock_guard lock(state_->mutex);
    enter(state_->metrics, line, now());
  }
  if (state_->file) state_->file->put([state = state_->copy()] { return exposition(state); });
}

std::string MetricsOutlet::address() const {
  return state_->server ? state_->server->address() + "metrics" : std::string();
}

}  // namespace winnow::app
