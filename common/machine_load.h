#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace winnow {

// Idle time of a machine's processors since boot. Busy time is what is left: the system measures
// how long a processor was idle, but only samples who used it, which misleads where a process is
// held to a part of a core.
struct ProcessorsIdle {
  int processors = 0;
  std::uint64_t ticks = 0;  // idle or waiting for disks, summed over processors; in clock ticks
};
// Parses the text of /proc/stat; nullopt if it is malformed.
std::optional<ProcessorsIdle> parse_processors_idle(std::string_view stat);

// Processor time of all threads of this process so far, in seconds.
double process_seconds();

// Measures how busy this machine's processors are, from its construction on.
class MachineLoad {
 public:
  MachineLoad();

  // Mean number of cores that all processes and a hypervisor used since construction; 0 if unknown.
  double busy_cores() const;
  double own_cores() const;  // the same of this process
  double seconds() const;    // elapsed since then

 private:
  std::optional<ProcessorsIdle> idle_;
  double own_seconds_ = 0;
  double begin_seconds_ = 0;
};

}  // namespace winnow
