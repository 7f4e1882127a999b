#include "common/health/monitor.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "common/machine_load.h"
#include "common/thread_name.h"

namespace winnow::health {
namespace {

using Clock = Board::Clock;
constexpr auto kBeat = std::chrono::milliseconds(1000);
constexpr auto kLook = std::chrono::milliseconds(200);  // interval for checking stop requests
constexpr auto kLastWords = std::chrono::seconds(2);

double seconds_of(Clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

// Total time that threads have waited for a core; 0 if unknown.
double delayed_seconds() {
  double waited_ns = 0;
  std::error_code error;
  std::filesystem::directory_iterator thread("/proc/self/task", error);
  for (; !error && thread != end(thread); thread.increment(error)) {  // ++ could throw
    std::ifstream in(thread->path() / "schedstat");
    double ran = 0;
    double waited = 0;
    if (in >> ran >> waited) waited_ns += waited;
  }
  return waited_ns * 1e-9;
}

// Including all system calls and mapped files; 0 if unknown.
std::uint64_t io_kib() {
  std::ifstream in("/proc/self/io");
  std::uint64_t bytes = 0;
  std::string name;
  std::uint64_t value = 0;
  while (in >> name >> value) {
    if (name == "rchar:" || name == "wchar:" || name == "read_bytes:") bytes += value;
  }
  return bytes >> 10;
}

// The thread must not receive signals meant for others.
std::thread start_thread(std::function<void()> work) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::move(work));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

// Delivers messages one after the other, on a thread of its own.
class Speaker {
 public:
  explicit Speaker(std::function<void(const Sentence&)> say)
      : shared_(std::make_shared<Shared>(std::move(say))),
        thread_(start_thread([shared = shared_] { shared->run(); })) {}

  void say(Sentence sentence) {
    const std::lock_guard lock(shared_->mutex);
    shared_->sentences.push_back(std::move(sentence));
    shared_->changed.notify_all();
  }

  // Returns when everything is delivered, or after `patience`.
  void flush(Clock::duration patience) {
    std::unique_lock lock(shared_->mutex);
    shared_->ending = true;
    shared_->changed.notify_all();
    shared_->changed.wait_for(lock, patience, [&] { return shared_->ended; });
  }

  ~Speaker() {
    flush(kLastWords);
    std::unique_lock lock(shared_->mutex);
    const bool ended = shared_->ended;
    lock.unlock();
    if (ended) {
      thread_.join();
    } else {  // a blocked terminal or disk must not delay the end of the process
      thread_.detach();
    }
  }
  Speaker(const Speaker&) = delete;
  Speaker& operator=(const Speaker&) = delete;

 private:
  struct Shared {
    explicit Shared(std::function<void(const Sentence&)> sink) : say(std::move(sink)) {}

    void run() {
      name_thread("sentences");
      std::unique_lock lock(mutex);
      for (;;) {
        changed.wait(lock, [&] { return ending || !sentences.empty(); });
        if (sentences.empty()) break;
        const Sentence sentence = std::move(sentences.front());
        sentences.pop_front();
        lock.unlock();
        say(sentence);
        lock.lock();
      }
      ended = true;
      changed.notify_all();
    }

    const std::function<void(const Sentence&)> say;
    std::mutex mutex;  // guards the fields below
    std::condition_variable changed;
    std::deque<Sentence> sentences;
    bool ending = false;
    bool ended = false;
  };

  std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace

struct Monitor::State {
  State(Pulse known, std::unique_ptr<Transport> by, const Board& of, MonitorSinks to,
        std::function<Clock::time_point()> time)
      : clock(std::move(time)),
        pulse(std::move(known)),
        transport(std::move(by)),
        board(of),
        sinks(std::move(to)),
        speaker(sinks.say),
        log(sinks.say),
        thread(start_thread([this] { run(); })) {}

  ~State() {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    changed.notify_all();
    if (transport) transport->wake();
    thread.join();
  }

  void run() {
    name_thread("heartbeats");
    Clock::time_point next = clock();
    while (!is_stopping()) {
      const auto time = clock();
      if (!stop_seen && sinks.stop && sinks.stop()) {
        // If a launcher stops the job because a rank is gone, there is a second to report it.
        stop_seen = true;
        next = time;
      }
      if (time < next) {
        listen(std::min(kLook, std::chrono::ceil<std::chrono::milliseconds>(next - time)));
        continue;
      }
      // Take everything that has arrived: on a busy machine this thread may be late.
      listen(std::chrono::milliseconds(0));
      do_beat();
      next = std::max(next + kBeat, clock() + kBeat / 2);  // time for answers to arrive
    }
    tell_all(pulse.farewell(0), true);
  }

  bool is_stopping() {
    const std::lock_guard lock(mutex);
    return stopping;
  }

  double now() const { return seconds_of(clock() - begin); }

  void listen(std::chrono::milliseconds patience) {
    if (!transport) {
      std::unique_lock lock(mutex);
      changed.wait_for(lock, patience, [&] { return stopping; });
      return;
    }
    for (const Heard& heard : transport->receive(patience)) {
      const std::optional<int> rank = pulse.hear(heard, now());
      if (rank) transport->confirm(*rank, heard.from);
    }
    if (!stop_seen) return;
    for (const Sentence& sentence : pulse.last_words(now())) say(sentence);
  }

  void say(const Sentence& sentence) {
    if (sentence.to_people) speaker.say({.text = sentence.text, .to_people = true});
    if (sentence.to_log) log.say({.text = sentence.text, .to_log = true});
  }

  void do_beat() {
    const Beat beat = pulse.beat(own_status(), board.saved(), now());
    if (transport) {
      std::vector<bool> is_far(static_cast<std::size_t>(pulse.size()));
      for (const int rank : beat.far) is_far[static_cast<std::size_t>(rank)] = true;
      for (int r = 0; r < pulse.size(); ++r) {
        transport->send(r, beat.message, is_far[static_cast<std::size_t>(r)]);
      }
      for (const int rank : beat.probes) {
        if (transport->probe(rank)) pulse.asked(rank, now());
      }
    }
    for (const Sentence& sentence : beat.sentences) say(sentence);
    if (!beat.exit_code) return;
    tell_all(pulse.farewell(*beat.exit_code), true);
    speaker.flush(kLastWords);
    log.flush(kLastWords);
    sinks.end_process(*beat.exit_code);
  }

  void tell_all(const Bytes& message, bool everywhere) {
    if (!transport) return;
    for (int times = 0; times < 3; ++times) {  // one may be lost
      for (int r = 0; r < pulse.size(); ++r) transport->send(r, message, everywhere);
    }
  }

  Status own_status() {
    Status status = board.read();
    const Clock::time_point at = clock();
    const double cpu = process_seconds();
    const double delayed = delayed_seconds();
    const double passed = std::max(1e-3, seconds_of(at - looked_at));
    status.cpu = static_cast<float>(std::max(0.0, (cpu - cpu_before) / passed));
    status.delayed = static_cast<float>(std::max(0.0, (delayed - delayed_before) / passed));
    cpu_before = cpu;
    delayed_before = delayed;
    looked_at = at;
    status.io_kib = io_kib();
    if (sinks.adding_seconds) {
      status.added_ms = static_cast<std::uint32_t>(sinks.adding_seconds() * 1000);
    }
    return status;
  }

  const std::function<Clock::time_point()> clock;
  const Clock::time_point begin = clock();
  Clock::time_point looked_at = begin;
  double cpu_before = process_seconds();
  double delayed_before = delayed_seconds();
  Pulse pulse;
  const std::unique_ptr<Transport> transport;
  const Board& board;
  const MonitorSinks sinks;
  Speaker speaker;
  Speaker log;  // separate, because the disk may be what hangs
  std::mutex mutex;
  std::condition_variable changed;
  bool stopping = false;
  bool stop_seen = false;  // only used by the thread
  std::thread thread;      // last, because it uses the members above
};

Monitor::Monitor(Pulse pulse, std::unique_ptr<Transport> transport, const Board& board,
                 MonitorSinks sinks, std::function<Clock::time_point()> now)
    : state_(std::make_unique<State>(std::move(pulse), std::move(transport), board,
                                     std::move(sinks), std::move(now))) {}
Monitor::~Monitor() = default;

}  // namespace winnow::health
