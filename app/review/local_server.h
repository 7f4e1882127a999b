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
  // Path of the request after the token (after "/" if the server is open). Decoded, any bytes. ""
  // stands for the page.
  std::string path;
  // Query parameters; the first value of each name.
  std::map<std::string, std::string, std::less<>> parameters = {};
  std::string body = {};
};

struct WebReply {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body = {};
  bool may_be_kept = false;  // whether the browser may cache the reply while it runs
};

struct LocalServerOptions {
  int port = 0;  // port of the server; 0: any free port
  int threads = 16;
  std::size_t most_waiting = 32;  // connections that may wait until a thread is free
  std::size_t most_body_bytes = std::size_t{8} << 20;
  // Time limit of an idle connection while others wait; ten times as long if none waits.
  std::chrono::milliseconds idle_time{1000};
  // Time limit from the first byte of a request to its last. While others wait: at most idle_time.
  std::chrono::milliseconds request_time{10000};
  std::chrono::milliseconds reply_time{30000};
  // No token is needed to read: for figures that every user of this machine may see; GET only.
  bool open = false;
};

// An HTTP server for the browser of one person on this machine.
//
// Access   It listens on 127.0.0.1 only. The path must contain the token, 128 random bits.
// Refused  A foreign Host (DNS rebinding; an open server accepts any port there, as through a
//          tunnel). A POST with a foreign Origin, or with anything but JSON (a foreign form).
//          Methods other than GET and POST.
// Limits   Threads, connections, bytes and time of a request. One request per connection.
class LocalServer {
 public:
  using Answer = std::function<WebReply(const WebRequest&)>;
  using Clock = std::function<std::chrono::steady_clock::time_point()>;

  // answer  Called on several threads at once. The text of its exceptions goes to the browser, with
  //         status 400 for UsageError and FormatError, else 500.
  // clock   Called on several threads at once: ten times a second by each that waits for a browser.
  // Throws  UsageError: the port is taken.
  LocalServer(const LocalServerOptions& options, Answer answer,
              Clock clock = &std::chrono::steady_clock::now);
  ~LocalServer();

  std::string address() const;  // http://127.0.0.1:PORT/TOKEN/; without TOKEN/ for an open server

  // Answers requests until `stop` returns true, which is checked ten times a second. Then replies
  // in progress are completed, and incomplete requests are dropped. Throws SystemError if no more
  // connections can be accepted.
  void serve(const StopRequested& stop);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace winnow::app
