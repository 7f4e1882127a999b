#include "app/session.h"

#include <fmt/core.h>

#include <array>
#include <ctime>
#include <utility>

#include "common/error.h"
#include "common/host_name.h"

namespace winnow::app {

ThreadPlan thread_plan(const Session& session, int cores) {
  ThreadPlanInputs inputs = session.threads;
  inputs.requested = cores;
  return plan_threads(inputs);
}

void say(const Session& session, const std::string& sentence) {
  if (session.to.sentence && session.comm.rank() == 0) session.to.sentence(sentence);
}

void say_each(const Session& session, const std::vector<std::string>& sentences) {
  for (const std::string& sentence : sentences) say(session, sentence);
}

void print(const Session& session, std::string_view lines) {
  if (session.to.lines && session.comm.rank() == 0) session.to.lines(lines);
}

bool is_asked_to_stop(const Session& session) { return session.stop && session.stop(); }

ProgressSink progress_bar(const Session& session, const std::string& title,
                          const std::string& unit) {
  if (!session.to.bar || session.comm.rank() != 0) return [](const Progress&) {};
  return session.to.bar(title, unit);
}

ProgressSink stopping_bar(const Session& session, const std::string& title, const std::string& unit,
                          std::string sentence) {
  return [bar = progress_bar(session, title, unit), stop = session.stop,
          sentence = std::move(sentence)](const Progress& progress) {
    if (stop && stop()) throw StoppedError(sentence);
    bar(progress);
  };
}

std::shared_ptr<void> nothing_to_finish(const Session& session) {
  return session.to.nothing_to_finish ? session.to.nothing_to_finish() : nullptr;
}

std::string local_time(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), format, &local)};
}

const char* version() { return WINNOW_VERSION; }

std::string made_here() {
  const std::string host = host_name();
  return fmt::format("{}, winnow {}{}{}", local_time("%Y-%m-%d %H:%M:%S %z"), version(),
                     host.empty() ? "" : ", on ", host);
}

}  // namespace winnow::app
