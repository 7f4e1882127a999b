#include "app/review/local_server.h"

#include <fmt/core.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "app/review/socket_stream_internal.h"
#include "common/error.h"

namespace winnow::app {
namespace {

using std::chrono::milliseconds;

// request line and all header fields
constexpr std::size_t kMostHeadBytes = 64U << 10;

std::string make_token() {
  std::array<unsigned char, 16> random{};
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
    throw_errno("cannot draw random numbers");
  }
  std::string token;
  for (const unsigned char byte : random) token += fmt::format("{:02x}", byte);
  return token;
}

// Compares in a time that depends only on the lengths.
bool is_same(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  unsigned differs = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    differs |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  }
  return differs == 0;
}

// void, or whether the task was accepted: depends on the version of cpp-httplib.
using Enqueued = decltype(std::declval<httplib::TaskQueue&>().enqueue(nullptr));

// Threads that take tasks in turn. While `most_waiting` tasks wait, adding another blocks.
class BoundedQueue : public httplib::TaskQueue {
 public:
  BoundedQueue(int threads, std::size_t most_waiting, std::atomic<std::size_t>& waiting)
      : most_waiting_(most_waiting), waiting_(waiting) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  }

  Enqueued enqueue(std::function<void()> task) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return tasks_.size() < most_waiting_; });
    tasks_.push_back(std::move(task));
    waiting_ = tasks_.size();
    changed_.notify_all();
    return Enqueued(true);
  }

  void shutdown() override {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return ends_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      waiting_ = tasks_.size();
      changed_.notify_all();
      lock.unlock();
      task();
      lock.lock();
    }
  }

  const std::size_t most_waiting_;
  std::atomic<std::size_t>& waiting_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool ends_ = false;
  std::vector<std::thread> threads_;
};

void put(const WebReply& reply, httplib::Response& response) {
  response.status = reply.status;
  response.set_content(reply.body, reply.type);
  response.set_header("Cache-Control",
                      reply.may_be_kept ? "private, max-age=3600, immutable" : "no-store");
}

httplib::Headers security_headers() {
  return {{"Content-Security-Policy",
           "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
           "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
          {"X-Content-Type-Options", "nosniff"},
          {"X-Frame-Options", "DENY"},
          {"Referrer-Policy", "no-referrer"},
          {"Cross-Origin-Resource-Policy", "same-origin"},
          {"Cross-Origin-Opener-Policy", "same-origin"}};
}

}  // namespace

struct LocalServer::State : httplib::Server {
  State(const LocalServerOptions& with, Answer by, Clock time)
      : options(with), answer(std::move(by)), clock(std::move(time)), token(make_token()) {}

  // Takes the port and installs the handlers.
  void prepare();
  // The reply that refuses this request; status 0: it is not refused.
  WebReply refusal(const httplib::Request& request) const;
  WebReply reply_to(const httplib::Request& request) const;
  std::string base() const { return options.open ? "/" : "/" + token + "/"; }
  std::string origin() const { return fmt::format("http://127.0.0.1:{}", port); }
  bool is_own_host(std::string_view host) const {
    if (options.open) {
      const std::string_view name = host.substr(0, host.find(':'));
      return name == "127.0.0.1" || name == "localhost";
    }
    return host == fmt::format("127.0.0.1:{}", port) || host == fmt::format("localhost:{}", port);
  }
  void listen_on();

  LocalServerOptions options;
  Answer answer;
  const Clock clock;
  std::string token;
  int port = 0;
  std::atomic<std::size_t> waiting{0};
  std::atomic<bool> ends{false};

 private:
  bool process_and_close_socket(socket_t socket) override;
};

void LocalServer::State::listen_on() {
  // the default of httplib would share the port with other servers
  set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  set_address_family(AF_INET);
  port = options.port;
  if (port == 0) {
    port = bind_to_any_port("127.0.0.1");
  } else if (!bind_to_port("127.0.0.1", port)) {
    throw UsageError(fmt::format(
        "port {} of 127.0.0.1 is not available; name another with --port, or leave out --port",
        port));
  }
  if (port <= 0) throw SystemError("no port of 127.0.0.1 is available");
  ::listen(svr_sock_, 128);  // the default of httplib, 5, is too small for a browser
}

void LocalServer::State::prepare() {
  listen_on();
  new_task_queue = [this] {
    return new BoundedQueue(options.threads, options.most_waiting, waiting);
  };
  set_payload_max_length(options.most_body_bytes);
  set_idle_interval(0, 100'000);
  set_default_headers(security_headers());
  // Answers requests without a body here, so that their path is never matched against a pattern.
  set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
    const WebReply refused = refusal(request);
    if (refused.status == 0 && request.method == "POST") return HandlerResponse::Unhandled;
    put(refused.status == 0 ? reply_to(request) : refused, response);
    return HandlerResponse::Handled;
  });
  Post(".*", [this](const httplib::Request& request, httplib::Response& response) {
    put(reply_to(request), response);
  });
}

WebReply LocalServer::State::refusal(const httplib::Request& request) const {
  const bool is_post = request.method == "POST";
  if (options.open && request.method != "GET") return {405, "text/plain", "only GET\n"};
  if (!is_post && request.method != "GET") return {405, "text/plain", "only GET and POST\n"};
  if (request.get_header_value_count("Host") != 1 ||
      !is_own_host(request.get_header_value("Host"))) {
    return {403, "text/plain", "not by this name\n"};
  }
  const std::string_view path = request.path;
  if (options.open) return path.starts_with('/') ? WebReply{0, "", ""} : WebReply{.status = 404};
  if (path.size() < token.size() + 2 || path.front() != '/' || path[token.size() + 1] != '/' ||
      !is_same(path.substr(1, token.size()), token)) {
    return {404, "text/plain", "nothing is here; use the whole address that winnow printed\n"};
  }
  if (!is_post) return {0, "", ""};
  if (request.get_header_value_count("Origin") != 1 ||
      request.get_header_value("Origin") != "http://" + request.get_header_value("Host")) {
    return {403, "text/plain", "not from another page\n"};
  }
  if (request.get_header_value("Content-Type") != "application/json" ||
      request.has_header("Content-Encoding")) {
    return {415, "text/plain", "only plain application/json\n"};
  }
  // The handler of bodies is found by a pattern. Long paths must not reach it.
  if (path.size() > token.size() + 64 || path.find_first_of("\r\n") != std::string_view::npos) {
    return {404, "text/plain", "nothing is here\n"};
  }
  return {0, "", ""};
}

WebReply LocalServer::State::reply_to(const httplib::Request& request) const {
  WebRequest asked{.is_post = request.method == "POST",
                   .path = request.path.substr(base().size()),
                   .body = request.body};
  for (const auto& [name, value] : request.params) asked.parameters.emplace(name, value);
  const auto sentence = [](int status, const std::exception& error) {
    return WebReply{.status = status, .body = std::string(error.what()) + "\n"};
  };
  try {
    return answer(asked);
  } catch (const UsageError& error) {
    return sentence(400, error);
  } catch (const FormatError& error) {
    return sentence(400, error);
  } catch (const std::exception& error) {
    return sentence(500, error);
  }
}

bool LocalServer::State::process_and_close_socket(socket_t socket) {
  const auto may_come = [this](milliseconds passed) {
    const milliseconds most =
        waiting > 0 ? std::min(options.idle_time, options.request_time) : options.request_time;
    return !ends && passed < most;
  };
  SocketStream stream(socket, {.request_bytes = kMostHeadBytes + options.most_body_bytes,
                               .may_come = may_come,
                               .reply_time = options.reply_time,
                               .clock = clock});
  const bool begun = stream.begin([this](milliseconds passed) {
    return !ends && passed < options.idle_time * (waiting > 0 ? 1 : 10);
  });
  bool ignored = false;
  bool answered = false;
  if (begun) {
    const auto leave_out = [](httplib::Request& request) {
      request.ranges.clear();
      request.headers.erase("Accept-Encoding");
      request.headers.erase("Expect");
    };
    const auto process = [&](auto& server) {
      constexpr bool kCloses = true;
      if constexpr (requires { server.process_request(stream, kCloses, ignored, leave_out); }) {
        return server.process_request(stream, kCloses, ignored, leave_out);
      } else {  // since 0.16, with the addresses of both sides, which are not used
        return server.process_request(stream, {}, 0, {}, 0, kCloses, ignored, leave_out);
      }
    };
    answered = process(*this);
    stream.end();
  }
  ::close(socket);
  return answered;
}

LocalServer::LocalServer(const LocalServerOptions& options, Answer answer, Clock clock)
    : state_(std::make_unique<State>(options, std::move(answer), std::move(clock))) {
  state_->prepare();
}

LocalServer::~LocalServer() = default;

std::string LocalServer::address() const { return state_->origin() + state_->base(); }

void LocalServer::serve(const StopRequested& stop) {
  std::atomic<bool> listens{true};
  std::thread listener([&] {
    state_->listen_after_bind();
    listens = false;
  });
  while (listens && !(stop && stop())) std::this_thread::sleep_for(milliseconds(100));
  const bool failed = !listens;
  while (listens && !state_->is_running()) std::this_thread::sleep_for(milliseconds(1));
  state_->ends = true;
  state_->stop();
  listener.join();
  if (failed)
    throw SystemError("connections cannot be accepted any more; start winnow review again");
}

}  // namespace winnow::app
