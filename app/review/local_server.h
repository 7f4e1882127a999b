#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "common/stop.h"

namespace winnow::app {

struct WebRequest {
  bool is_post = false;
  // Below the folder of the token (open server: below "/"), decoded, any bytes; "" is the page.
  std::string path;
  std::map<std::string, std::string, std::less<>> parameters = {};  // the first value of each name
  std::string body = {};
};

struct WebReply {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body = {};
  bool may_be_kept = false;  // by the browser, while it runs
};

struct LocalServerOptions {
  int port = 0;  // 0: any free one
  int threads = 16;
  std::size_t most_waiting = 32;  // connections that no thread serves yet
  std::size_t most_body_bytes = std::size_t{8} << 20;
  std::chrono::milliseconds idle_time{1000};  // idle limit while others wait; else ten times this
  // From the first byte of a request to its last. While others wait: at most idle_time.
  std::chrono::milliseconds request_time{10000};
  std::chrono::milliseconds reply_time{30000};
  bool open = false;  // no token: for figures that everyone on this machine may see; GET only
};

// A server for one person's browser on this machine.
//
// Access   It listens on 127.0.0.1 only. The path must contain the token, 128 random bits.
// Refused  a Host other than its own (a foreign page whose name was made to resolve to it; an open
//          server accepts any port there, as through a tunnel); a POST with another Origin, or with
//          anything but JSON (a foreign form); methods other than GET and POST
// Limits   on threads, connections, bytes and time of a request; one request per connection
class LocalServer {
 public:
  using Answer = std::function<WebReply(const WebRequest&)>;
  using Clock = std::function<std::chrono::steady_clock::time_point()>;

  // answer  Called on several threads at once. The text of its exceptions goes to the browser:
  //         status 400 for UsageError and FormatError, else 500.
  // clock   Called on several threads at once, ten times a second by each that waits for a browser.
  // Throws  UsageError: the port is taken.
  LocalServer(const LocalServerOptions& options, Answer answer,
              Clock clock = &std::chrono::steady_clock::now);
  ~LocalServer();

  std::string address() const;  // http://127.0.0.1:PORT/TOKEN/; without TOKEN/ if open

  // Answers requests until `stop` returns true, which it checks ten times a second. Then it
  // completes answers in progress and drops requests that are not complete. Throws SystemError if
  // no more connections can be accepted.
  void serve(const StopRequested& stop);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace winnow::app
