#include "train/backend/cudnn/host_copy.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

namespace winnow::train::cudnn {
namespace {

constexpr std::size_t kMostThreads = 4;
// takes longer than starting a thread
constexpr std::size_t kBytesOfAThread = std::size_t{2} << 20;

}  // namespace

void copy_on_host(void* to, const void* from, std::size_t bytes) {
  const std::size_t parts = std::clamp<std::size_t>(bytes / kBytesOfAThread, 1, kMostThreads);
  const auto edge = [&](std::size_t part) { return bytes * part / parts; };
  const auto copy = [&](std::size_t part) {
    std::memcpy(static_cast<std::byte*>(to) + edge(part),
                static_cast<const std::byte*>(from) + edge(part), edge(part + 1) - edge(part));
  };
  std::vector<std::jthread> others;
  for (std::size_t part = 1; part < parts; ++part) others.emplace_back(copy, part);
  copy(0);
}

}  // namespace winnow::train::cudnn
