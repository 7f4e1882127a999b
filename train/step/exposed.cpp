#include "train/step/exposed.h"

#include <algorithm>

namespace winnow::train {

ExposedSeconds& ExposedSeconds::operator+=(const ExposedSeconds& other) noexcept {
  late += other.late;
  wire += other.wire;
  addition += other.addition;
  return *this;
}

ExposedSeconds split_exposed(std::chrono::steady_clock::time_point begin,
                             std::chrono::steady_clock::time_point end,
                             std::optional<std::chrono::steady_clock::time_point> all_came,
                             double adding) {
  const auto seconds = [](auto duration) {
    return std::chrono::duration<double>(duration).count();
  };
  const auto came = std::clamp(all_came.value_or(end), begin, end);
  const double rest = seconds(end - came);
  const double addition = std::clamp(adding, 0.0, rest);
  return {.late = seconds(came - begin), .wire = rest - addition, .addition = addition};
}

void ExposedWatch::begin() {
  if (all_meet_) all_came_ = comm_.start_barrier();
  begin_ = Clock::now();
  added_ = comm_.adding_seconds();
}

void ExposedWatch::end() {
  const auto end = Clock::now();
  std::optional<Clock::time_point> all_came;
  if (!all_meet_) all_came = begin_;
  if (all_meet_ && all_came_.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
    all_came = all_came_.get();
  }
  seconds_ = split_exposed(begin_, end, all_came, comm_.adding_seconds() - added_);
}

}  // namespace winnow::train
