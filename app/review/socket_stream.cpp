#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "app/review/socket_stream_internal.h"

namespace winnow::app {

using std::chrono::milliseconds;

namespace {
constexpr milliseconds kLook{100};
}  // namespace

SocketStream::SocketStream(int socket, const Limits& limits) : socket_(socket), limits_(limits) {}

bool SocketStream::is_ready(short events, milliseconds within) const {
  pollfd asked{.fd = socket_, .events = events, .revents = 0};
  const int ready = ::poll(&asked, 1, static_cast<int>(std::min(within, kLook).count()));
  return ready > 0 || (ready < 0 && errno != EINTR);
}

bool SocketStream::wait(short events, Clock::time_point deadline) const {
  for (;;) {
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - limits_.clock());
    if (left.count() <= 0) return false;
    if (is_ready(events, left)) return true;
  }
}

bool SocketStream::wait_for_more() const {
  milliseconds look{0};  // data that has arrived is read, even after the end
  while (!is_ready(POLLIN, look)) {
    const auto passed = std::chrono::duration_cast<milliseconds>(limits_.clock() - began_);
    if (!limits_.may_come(passed)) return false;
    look = kLook;
  }
  return true;
}

bool SocketStream::begin(const std::function<bool(milliseconds)>& patient) {
  const auto began = limits_.clock();
  while (!is_ready(POLLIN, kLook)) {
    const auto passed = std::chrono::duration_cast<milliseconds>(limits_.clock() - began);
    if (!patient(passed)) return false;
  }
  began_ = limits_.clock();
  return true;
}

void SocketStream::end() {
  ::shutdown(socket_, SHUT_WR);
  // Closing a socket with unread bytes resets it, and the answer is lost.
  const auto until = limits_.clock() + milliseconds(500);
  const bool has_answer = write_until_ != Clock::time_point{};
  constexpr int kMostSilent = 5;  // polls
  for (int silent = 0; silent < kMostSilent && limits_.clock() < until;) {
    if (!has_answer && !limits_.may_come(milliseconds(0))) return;
    if (!is_ready(POLLIN, kLook)) {
      ++silent;
      continue;
    }
    const ssize_t got = ::recv(socket_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (got <= 0) return;
  }
}

bool SocketStream::is_readable() const { return begin_ < end_ || wait_for_more(); }

bool SocketStream::is_writable() const {
  return wait(POLLOUT, limits_.clock() + limits_.reply_time);
}

ssize_t SocketStream::read(char* to, std::size_t size) {
  if (begin_ == end_) {
    if (received_ >= limits_.request_bytes || !wait_for_more()) return -1;
    const ssize_t got = ::recv(socket_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (got <= 0) return got;
    received_ += static_cast<std::size_t>(got);
    begin_ = 0;
    end_ = static_cast<std::size_t>(got);
  }
  const std::size_t count = std::min(size, end_ - begin_);
  std::memcpy(to, buffer_.data() + begin_, count);
  begin_ += count;
  return static_cast<ssize_t>(count);
}

ssize_t SocketStream::write(const char* from, std::size_t size) {
  if (write_until_ == Clock::time_point{}) write_until_ = limits_.clock() + limits_.reply_time;
  if (!wait(POLLOUT, write_until_)) return -1;
  return ::send(socket_, from, size, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void SocketStream::get_remote_ip_and_port(std::string& ip, int& port) const {
  ip = "127.0.0.1";
  port = 0;
}
void SocketStream::get_local_ip_and_port(std::string& ip, int& port) const {
  ip = "127.0.0.1";
  port = 0;
}

}  // namespace winnow::app
