#include "train/backend/cudnn/device_errors.h"

#include "common/error.h"

namespace winnow::train::cudnn {
namespace {

constexpr std::string_view kElse = ", or use --backend onednn";

std::string mib(std::int64_t bytes) {
  constexpr std::int64_t kMiB = std::int64_t{1} << 20;
  return std::to_string((bytes + kMiB - 1) / kMiB) + " MiB";
}

std::string capability(int value) {
  return std::to_string(value / 10) + "." + std::to_string(value % 10);
}

// Major version of cuDNN, from its version as one number: in units of 10000 since version 9, of
// 1000 before.
std::size_t major_of(std::size_t cudnn) { return cudnn >= 90000 ? cudnn / 10000 : cudnn / 1000; }

// The driver's own limit decides, not the version numbers: newer runtimes run on older drivers of
// the same major version.
void check_driver(Machine& machine, const CardCount& cards) {
  const std::string needed = cuda_version(machine.runtime());
  if (machine.driver() == 0) {
    throw Error("this machine has no NVIDIA driver: install one that runs CUDA " + needed +
                std::string(kElse));
  }
  if (cards.answer == CudaAnswer::kInsufficientDriver) {
    throw Error("the NVIDIA driver supports CUDA up to " + cuda_version(machine.driver()) +
                ", but this winnow was built with CUDA " + needed + ": install a newer driver" +
                std::string(kElse));
  }
  if (cards.answer == CudaAnswer::kOther) {
    throw Error("CUDA did not start (" + cards.reason + "): check that nvidia-smi lists the card" +
                std::string(kElse));
  }
}

void check_count(const CardCount& cards) {
  if (cards.answer == CudaAnswer::kOk && cards.count > 0) return;
  throw Error("this process sees no NVIDIA card: check nvidia-smi and CUDA_VISIBLE_DEVICES" +
              std::string(kElse));
}

void check_cudnn(std::size_t found, std::size_t built_with) {
  if (major_of(found) == major_of(built_with) && found >= built_with) return;
  throw Error("found cuDNN " + cudnn_version(found) + ", but this winnow was built with " +
              cudnn_version(built_with) + ": install that or a newer " +
              std::to_string(major_of(built_with)) + ".x, or build winnow again");
}

void check_capability(const Card& card, int index) {
  if (card.capability >= kOldestCapability) return;
  throw Error("card " + std::to_string(index) + ", " + card.name + ", has compute capability " +
              capability(card.capability) + ", too old for backend cudnn, which needs " +
              capability(kOldestCapability) + ": choose another" + std::string(kElse));
}

}  // namespace

std::string cuda_version(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string cudnn_version(std::size_t version) {
  const std::size_t unit = version >= 90000 ? 10000 : 1000;
  return std::to_string(version / unit) + "." + std::to_string(version % unit / 100) + "." +
         std::to_string(version % 100);
}

FoundCard find_card(Machine& machine, int wanted) {
  const CardCount cards = machine.count_cards();
  check_driver(machine, cards);
  check_count(cards);
  check_cudnn(machine.cudnn_found(), machine.cudnn_built_with());
  const int index = wanted % cards.count;
  FoundCard found{.index = index, .card = machine.card(index)};
  check_capability(found.card, index);
  return found;
}

std::string out_of_memory(std::string_view card, const MemoryFacts& facts) {
  return "out of memory on " + std::string(card) + ": " + mib(facts.asked) + " asked for, " +
         mib(facts.free) + " free of " + mib(facts.total) +
         "; use a smaller --micro-batch or --dtype bf16, or stop other programs on the card";
}

std::string out_of_host_memory(std::size_t bytes) {
  return "out of page-locked host memory: " + mib(static_cast<std::int64_t>(bytes)) +
         " asked for; use a smaller --micro-batch, or give this process more memory";
}

std::string one_line(std::string_view text) {
  constexpr std::size_t kMost = 300;
  std::string out;
  for (const char c : text.substr(0, kMost)) {
    if (c != '\n') {
      out.push_back(c);
    } else if (!out.empty() && out.back() != ' ') {
      out += "; ";
    }
  }
  while (!out.empty() && (out.back() == ' ' || out.back() == ';')) out.pop_back();
  return out;
}

std::string call_failed(std::string_view what, std::string_view reason) {
  return "cannot " + std::string(what) + ": " + std::string(reason);
}

std::string earlier_work_failed(std::string_view what, std::string_view reason) {
  return "the card reported an error of earlier work when asked to " + std::string(what) + ": " +
         std::string(reason) +
         "; its contents are lost: resume from the last checkpoint, and check dmesg for Xid errors "
         "if this happens again";
}

}  // namespace winnow::train::cudnn
