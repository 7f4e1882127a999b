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
  std::string path;  // below the folder of the token, decoded, any bytes; "" is the page. Of an
                     // open server below "/"
  std::map<std::string, std::string, std::less<>> parameters =
      {};  // of several of a name, the first
  std::string body = {};
};

struct WebReply {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body = {};
  bool may_be_kept = false;  // by the browser, while it runs
};

struct LocalServerOptions {
  int port = 0;  // 0: one that is free
  int threads = 16;
  std::size_t most_waiting = 32;  // connections that no thread looks at yet
  std::size_t most_body_bytes = std::size_t{8} << 20;
  std::chrono::milliseconds idle_time{
      1000};  // without a byte, where others wait; else ten times it
  // From the first byte of a request to its last; where others wait, idle_time at most.
  std::chrono::milliseconds request_time{10000};
  std::chrono::milliseconds reply_time{30000};
  bool open = false;  // no token: for figures that all on this machine may see; GET alone
};

// A server for one person's browser on this machine: it listens on 127.0.0.1 alone, and answers
// nobody who does not know its token, 128 random bits in the path. It refuses every Host but its
// own (a page elsewhere whose name was made to lead here; an open server takes any port there, as
// of a tunnel), POST without its own Origin and of
// anything but JSON (a form elsewhere), and all methods but GET and POST. Threads, connections,
// bytes and time of a request are bounded; one request a connection.
class LocalServer {
 public:
  using Answer = std::function<WebReply(const WebRequest&)>;
  using Clock = std::function<std::chrono::steady_clock::time_point()>;

  // `answer` is called on several threads at once; of what it throws the text goes to the browser,
  // as 400 for UsageError and FormatError, else as 500. `clock` is asked on several threads at
  // once, ten times a second by each that waits for a browser. UsageError where the port is taken.
  LocalServer(const LocalServerOptions& options, Answer answer,
              Clock clock = &std::chrono::steady_clock::now);
  ~LocalServer();

  std::string address() const;  // http://127.0.0.1:PORT/TOKEN/; open: without TOKEN/

  // Answers until `stop` says so, asked ten times a second; what is being answered then is answered
  // to its end, and what is still being asked is not. SystemError where connections can be taken no
  // more.
  void serve(const StopRequested& stop);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace winnow::app
