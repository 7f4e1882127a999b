#include "common/machine_load.h"

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <string>

namespace winnow {
namespace {

std::optional<ProcessorTicks> ticks_now() {
  std::ifstream in("/proc/stat");
  std::string line;
  std::getline(in, line);
  return parse_processor_ticks(line);
}

double seconds_of_process() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::optional<ProcessorTicks> parse_processor_ticks(std::string_view stat) {
  std::istringstream words{std::string(stat)};
  std::string name;
  if (!(words >> name) || name != "cpu") return std::nullopt;
  ProcessorTicks ticks;
  constexpr int kIdle = 3;
  constexpr int kWaiting = 4;  // index of the time waiting for disks
  constexpr int kLast = 7;     // the fields after it are included in others
  std::uint64_t value = 0;
  int field = 0;
  for (; field <= kLast && words >> value; ++field) {
    ticks.all += value;
    if (field != kIdle && field != kWaiting) ticks.busy += value;
  }
  return field > kWaiting ? std::optional(ticks) : std::nullopt;
}

MachineLoad::MachineLoad()
    : ticks_(ticks_now()), own_seconds_(seconds_of_process()), begin_seconds_(now()) {}

double MachineLoad::seconds() const { return now() - begin_seconds_; }

double MachineLoad::own_cores() const {
  const double passed = seconds();
  return passed > 0 ? (seconds_of_process() - own_seconds_) / passed : 0;
}

double MachineLoad::busy_cores() const {
  const auto ticks = ticks_now();
  const double passed = seconds();
  if (!ticks || !ticks_ || passed <= 0) return 0;
  const auto busy = static_cast<double>(ticks->busy - ticks_->busy);
  return busy / static_cast<double>(sysconf(_SC_CLK_TCK)) / passed;
}

}  // namespace winnow
