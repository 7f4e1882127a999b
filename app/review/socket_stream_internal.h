#pragma once

#include <httplib.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace winnow::app {

// A connection for cpp-httplib with limits: on the size of a request, on the time to read it, and
// on the time to write the reply. For one thread. Does not own the socket.
class SocketStream : public httplib::Stream {
 public:
  struct Limits {
    std::size_t request_bytes;
    // Whether to keep waiting for the rest of a request, by the time since its first byte. Called
    // every tenth of a second while no data arrives.
    std::function<bool(std::chrono::milliseconds passed)> may_come;
    std::chrono::milliseconds reply_time;
    std::function<std::chrono::steady_clock::time_point()> clock;
  };
  SocketStream(int socket, const Limits& limits);

  // Waits for the first byte while `patient` returns true; false: no byte came. `patient` is called
  // every tenth of a second with the time waited so far.
  bool begin(const std::function<bool(std::chrono::milliseconds passed)>& patient);
  // Ends the reply: gives the peer up to half a second to read it, even if part of its request is
  // unread.
  void end();

  bool is_readable() const override;
  bool is_writable() const override;
  ssize_t read(char* to, std::size_t size) override;
  ssize_t write(const char* from, std::size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return socket_; }

 private:
  using Clock = std::chrono::steady_clock;

  // Whether the socket is ready for `events`. Waits at most a tenth of a second, so that the clock
  // is checked in time. A broken socket counts as ready; the next call reports the error.
  bool is_ready(short events, std::chrono::milliseconds within) const;
  // Waits for `events`. False if they did not occur before `deadline`.
  bool wait(short events, Clock::time_point deadline) const;
  // Waits for more bytes of the request. False: no more will come.
  bool wait_for_more() const;

  int socket_;
  Limits limits_;
  std::size_t received_ = 0;
  Clock::time_point began_{};        // arrival of the first byte
  Clock::time_point write_until_{};  // set by the first write
  std::array<char, 4096> buffer_{};
  std::size_t begin_ = 0;  // bytes [begin_, end_) of the buffer are unread
  std::size_t end_ = 0;
};

}  // namespace winnow::app
