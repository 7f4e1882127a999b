#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace winnow {

// What processors did since the machine began, in ticks of the system.
struct ProcessorTicks {
  std::uint64_t busy = 0;  // of all work, and what a hypervisor took
  std::uint64_t all = 0;
};
// Of text as in /proc/stat; nullopt: it is none.
std::optional<ProcessorTicks> parse_processor_ticks(std::string_view stat);

// What the processors of this machine do for others while this process works. Begins with it.
class MachineLoad {
 public:
  MachineLoad();

  // Cores that other processes, and a hypervisor, kept busy since then, in the mean; 0 where the
  // system does not say.
  double others_cores() const;
  double own_cores() const;  // that this process kept busy since then
  double seconds() const;    // since then

 private:
  std::optional<ProcessorTicks> ticks_;
  double own_seconds_ = 0;
  double begin_seconds_ = 0;
};

}  // namespace winnow
