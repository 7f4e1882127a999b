#include "common/health/board.h"

#include <algorithm>

namespace winnow::health {
namespace {

// An unusually slow step is limited to this multiple of a typical one.
constexpr double kMost = 4;

// The typical step averages over the last three seconds, but at least three steps.
double weight_of(double step_s, double typical_s) {
  return std::clamp(std::min(step_s, kMost * typical_s) / 3, 0.01, 0.3);
}

void follow(std::atomic<float>& mean, double now, double weight) noexcept {
  const double before = mean.load(std::memory_order_relaxed);
  const double next =
      weight == 1 ? now : before + weight * (std::min(now, kMost * before + 1e-3) - before);
  mean.store(static_cast<float>(next), std::memory_order_relaxed);
}

// The median of the last three steps, or the faster of two, so that a single slow step does not
// count. `steps` is a ring; missing ones are zero.
StepSeconds middle_of(std::array<StepSeconds, 3> steps, int counted) noexcept {
  std::ranges::sort(steps, {}, &StepSeconds::step);
  const int zeros = std::max(0, 3 - counted);
  return steps[static_cast<std::size_t>(zeros + (2 - zeros) / 2)];
}

}  // namespace

void Board::mark(Stage stage, std::size_t bucket) noexcept {
  constexpr std::size_t kMost = 0xFFFF;
  place_.store(
      static_cast<std::uint32_t>(std::min(bucket, kMost) << 8) | static_cast<std::uint32_t>(stage),
      kRelaxed);
  marks_.fetch_add(1, kRelaxed);
}

void Board::begin_step(std::int64_t step) noexcept {
  step_.store(step, kRelaxed);
  is_first_.store(under_way_.done == 0, kRelaxed);
  under_way_.begin = now_();
  under_way_.waited_ns = waited_ns_.load(kRelaxed);
  under_way_.exchange_ns = exchange_ns_.load(kRelaxed);
  mark(Stage::kReading);
}

void Board::end_step(double batch_wait_s) noexcept {
  const double step = std::chrono::duration<double>(now_() - under_way_.begin).count();
  const auto since = [](const std::atomic<std::int64_t>& now, std::int64_t before) {
    return static_cast<double>(now.load(kRelaxed) - before) * 1e-9;
  };
  const bool goes_on = batch_wait_s >= under_way_.batch_wait_s;  // or else another loader has begun
  const double batch = batch_wait_s - (goes_on ? under_way_.batch_wait_s : 0);
  const double exchange = std::min(batch, since(exchange_ns_, under_way_.exchange_ns));
  under_way_.batch_wait_s = batch_wait_s;
  if (under_way_.done++ == 0) return;
  recent_[static_cast<std::size_t>(under_way_.done) % recent_.size()] = {
      .step = static_cast<float>(step),
      .work =
          static_cast<float>(std::max(0.0, step - batch - since(waited_ns_, under_way_.waited_ns))),
      .batch = static_cast<float>(batch),
      .exchange = static_cast<float>(exchange)};
  const int counted = under_way_.done - 1;
  const StepSeconds middle = middle_of(recent_, counted);
  const double weight = counted <= 3 ? 1 : weight_of(middle.step, step_s_.load(kRelaxed));
  follow(step_s_, middle.step, weight);
  follow(work_s_, middle.work, weight);
  follow(batch_s_, middle.batch, weight);
  follow(exchange_s_, middle.exchange, weight);
}

Status Board::read() const noexcept {
  const std::uint32_t place = place_.load(kRelaxed);
  return {.stage = static_cast<Stage>(place & 0xFF),
          .wait = wait_.load(kRelaxed),
          .awaits_data = awaits_data_.load(kRelaxed),
          .is_first_step = is_first_.load(kRelaxed),
          .bucket = static_cast<std::uint16_t>(place >> 8),
          .step = step_.load(kRelaxed),
          .marks = marks_.load(kRelaxed),
          .collectives = collectives_.load(kRelaxed),
          .exchanges = exchanges_.load(kRelaxed),
          .seconds = {.step = step_s_.load(kRelaxed),
                      .work = work_s_.load(kRelaxed),
                      .batch = batch_s_.load(kRelaxed),
                      .exchange = exchange_s_.load(kRelaxed)}};
}

Board::Waiting::Waiting(Board& board, Wait wait) noexcept
    : board_(board), wait_(wait), begin_(board.now_()) {
  if (wait_ == Wait::kNone) {
    board_.awaits_data_.store(true, kRelaxed);
  } else {
    board_.wait_.store(wait_, kRelaxed);
  }
}

Board::Waiting::~Waiting() {
  const auto waited = std::chrono::nanoseconds(board_.now_() - begin_).count();
  if (wait_ == Wait::kNone) {
    board_.awaits_data_.store(false, kRelaxed);
    board_.exchange_ns_.fetch_add(waited, kRelaxed);
  } else {
    board_.wait_.store(Wait::kNone, kRelaxed);
    board_.waited_ns_.fetch_add(waited, kRelaxed);
  }
}

}  // namespace winnow::health
