#pragma once

#include <httplib.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace winnow::app {

// A connection as cpp-httplib reads and writes it, with an end to everything: reading stops after
// so many bytes, or where its owner says so, writing after so long. For one thread; does
// not own the socket.
class SocketStream : public httplib::Stream {
 public:
  struct Limits {
    std::size_t request_bytes;
    // Whether a request may still come, so long after its first byte; asked while none of it is
    // there, every tenth of a second.
    std::function<bool(std::chrono::milliseconds passed)> may_come;
    std::chrono::milliseconds reply_time;
    std::function<std::chrono::steady_clock::time_point()> clock;
  };
  SocketStream(int socket, const Limits& limits);

  // Waits for the first byte for as long as `patient` says, which is asked every tenth of a second
  // with the time that has passed. False: there is none.
  bool begin(const std::function<bool(std::chrono::milliseconds passed)>& patient);
  // Once all is written: lets the other side read it, whatever of its request was left unread.
  // Takes half a second at most.
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

  // Whether the socket is ready for `events` within a tenth of a second, after which the clock is
  // asked again. Broken, which the next call says, is ready.
  bool is_ready(short events, std::chrono::milliseconds within) const;
  // Whether it is before `deadline`.
  bool wait(short events, Clock::time_point deadline) const;
  // Whether there is more of the request.
  bool wait_for_more() const;

  int socket_;
  Limits limits_;
  std::size_t received_ = 0;
  Clock::time_point began_{};        // when the first byte was there
  Clock::time_point write_until_{};  // set by the first write
  std::array<char, 4096> buffer_{};
  std::size_t begin_ = 0;  // of what is in the buffer and was not read
  std::size_t end_ = 0;
};

}  // namespace winnow::app
