#include <sys/prctl.h>

#include <algorithm>
#include <thread>

#include "common/comm/pace_internal.h"

namespace winnow::comm {

namespace {

constexpr int kEmptyPolls = 200;
constexpr std::chrono::microseconds kShortestNap{5};
constexpr std::chrono::microseconds kLongestNap{100};

}  // namespace

void Pace::found() noexcept {
  empty_polls_ = 0;
  nap_ = kShortestNap;
}

std::chrono::microseconds Pace::rest() {
  if (empty_polls_ < kEmptyPolls) {
    ++empty_polls_;
    return {};
  }
  const std::chrono::microseconds slept = nap_;
  std::this_thread::sleep_for(slept);
  nap_ = std::clamp(2 * nap_, kShortestNap, kLongestNap);
  return slept;
}

void nap_precisely() noexcept { prctl(PR_SET_TIMERSLACK, 1'000UL, 0UL, 0UL, 0UL); }  // ns

}  // namespace winnow::comm
