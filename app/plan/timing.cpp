#include "app/plan/timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "app/plan/candidates.h"
#include "app/plan/plan.h"
#include "common/comm/communicator.h"
#include "common/error.h"
#include "train/run/start/memory_needs.h"

namespace winnow::app {
namespace {

using train::StepForm;
using train::StepSeconds;

// A trial runs its step at least three times, and evaluation and nodes once each.
constexpr double kPasses = 5;

// A trial measures steps for this many seconds, or for this share of what a plan may take if that
// is less.
constexpr double kTrialSeconds = 2;
constexpr double kTrialShare = 0.05;

// Floating-point operations of a step that a processor computes in about a second.
constexpr double kSoon = 1e11;
// A step has this many times the operations of its forward pass.
constexpr double kPassesOfStep = 3;

// The loader sets the pace if steps wait for it for more than this share of their time.
constexpr double kPacing = 0.05;

double distance(std::int64_t a, std::int64_t b) {
  return std::abs(std::log2(static_cast<double>(a) / static_cast<double>(b)));
}

// Seconds per image of a lane: a round divided by the micro-batch.
double computing_of_image(const StepSeconds& step, const StepForm& form) {
  return (step.forward + step.backward + step.idle) /
         static_cast<double>(form.rounds() * form.micro_batch);
}

// The trial with these lanes whose micro-batch is nearest to `micro_batch`; null: none has the
// lanes.
const Timed* nearest(const std::vector<Timed>& trials, std::int64_t micro_batch, int lane_threads) {
  const Timed* found = nullptr;
  for (const Timed& one : trials) {
    if (one.lane_threads != lane_threads) continue;
    if (found == nullptr || distance(one.trial.form.micro_batch, micro_batch) <
                                distance(found->trial.form.micro_batch, micro_batch)) {
      found = &one;
    }
  }
  return found;
}

// Ratio of the time per image with micro-batches of `wanted` to that with those of `at`.
double factor_between(const std::vector<Timed>& trials, const Timed& at, std::int64_t wanted) {
  const std::int64_t size = at.trial.form.micro_batch;
  const Timed* other = nullptr;  // the nearest on the other side of `wanted`
  for (const Timed& one : trials) {
    const std::int64_t its = one.trial.form.micro_batch;
    if (one.lane_threads != at.lane_threads || (its > wanted) == (size > wanted)) continue;
    if (other == nullptr ||
        distance(its, wanted) < distance(other->trial.form.micro_batch, wanted)) {
      other = &one;
    }
  }
  if (other == nullptr || size == wanted) return 1;
  const double here = computing_of_image(at.step, at.trial.form);
  const double there = computing_of_image(other->step, other->trial.form);
  const double way = distance(size, wanted) / distance(size, other->trial.form.micro_batch);
  return (here + way * (there - here)) / here;
}

StepSeconds times_computing(StepSeconds step, double factor) {
  step.forward *= factor;
  step.backward *= factor;
  step.idle *= factor;
  return step;
}

}  // namespace

Timed timed_trial(train::Trial trial, int lane_threads) {
  Timed out{.lane_threads = lane_threads, .trial = std::move(trial)};
  std::vector<StepSeconds> steps = out.trial.steps;
  for (StepSeconds& step : steps) {
    out.waited += std::exchange(step.data, 0) / static_cast<double>(steps.size());
  }
  out.step = train::median_step(steps);
  const auto [least, most] = std::ranges::minmax(steps, {}, &StepSeconds::total);
  out.spread = (most.total() - least.total()) / out.step.total();
  return out;
}

std::int64_t micro_batches_of_trial(double flops_of_image, const StepForm& whole) {
  const std::int64_t of_round = whole.lanes * whole.micro_batch;
  const double step_flops =
      kPassesOfStep * flops_of_image * static_cast<double>(whole.micro_batch * whole.micro_batches);
  if (step_flops <= kSoon) return whole.micro_batches;
  const auto soon =
      static_cast<std::int64_t>(static_cast<double>(whole.rounds()) * kSoon / step_flops);
  const std::int64_t least = 2 * of_round <= 128 ? 2 : 1;
  return std::min(whole.micro_batches, whole.lanes * std::max(least, soon));
}

double waiting_seconds(const Timed& of, double images, double computing) {
  const double share = images / of.images();
  if (of.waited < kPacing * of.step.total()) return share * of.waited;
  return std::max(0.0, share * (of.waited + of.step.total()) - computing);
}

StepOf step_by(const std::vector<Timed>& trials, const StepForm& wanted, int lane_threads) {
  StepOf out;
  const Timed* at = nearest(trials, wanted.micro_batch, lane_threads);
  double lanes = 1;  // slowdown of other lanes
  if (at == nullptr) {
    at = &*std::ranges::min_element(trials, {}, [&](const Timed& one) {
      return distance(one.trial.form.micro_batch, wanted.micro_batch);
    });
  } else if (at->trial.form.micro_batch != wanted.micro_batch) {
    // These lanes were measured with another micro-batch only: scale by trials with this one.
    for (const Timed& same : trials) {
      if (same.trial.form.micro_batch != wanted.micro_batch) continue;
      const Timed* both = nearest(trials, at->trial.form.micro_batch, same.lane_threads);
      if (both->trial.form.micro_batch != at->trial.form.micro_batch) continue;
      lanes = computing_of_image(same.step, same.trial.form) /
              computing_of_image(both->step, both->trial.form);
      break;
    }
  }
  const bool measured =
      at->trial.form.micro_batch == wanted.micro_batch && at->lane_threads == lane_threads;
  out.how = measured ? How::kMeasured : How::kScaled;
  out.spread = at->spread;
  const double factor = lanes != 1 ? lanes : factor_between(trials, *at, wanted.micro_batch);
  out.step = times_computing(train::scaled_step(at->step, at->trial.form, wanted), factor);
  return out;
}

Timing::Timing(const PlanRequest& request, const train::ExecutionOptions& execution,
               const train::Job& job, train::Backend& backend, Session& session,
               const PlanReport& report)
    : request_(request),
      execution_(execution),
      job_(job),
      backend_(backend),
      session_(session),
      report_(report),
      rates_(request.rates, rates_here(backend)) {}

std::vector<std::int64_t> Timing::micro_batches() const {
  std::vector<std::int64_t> fitting;
  for (const PlanRow& row : report_.rows) {
    const bool known = std::ranges::find(fitting, row.micro_batch) != fitting.end();
    if (row.fits && !known) fitting.push_back(row.micro_batch);
  }
  std::ranges::sort(fitting);
  return measured_of(fitting, report_.micro_batch);
}

Timing::Wanted Timing::wanted(std::int64_t micro_batch, int lane_threads, bool by_node) const {
  const auto row = std::ranges::find_if(report_.rows, [&](const PlanRow& r) {
    return r.micro_batch == micro_batch && r.lane_threads == lane_threads;
  });
  const int lanes =
      row == report_.rows.end() ? std::max(1, report_.cores / lane_threads) : row->memory.lanes;
  const double of_image =
      train::count(job_.forward).flops / static_cast<double>(job_.batches.micro_batch);
  const StepForm whole{micro_batch, report_.rank_images / micro_batch, lanes};
  Wanted one{.shape = {.micro_batch = micro_batch,
                       .micro_batches = micro_batches_of_trial(of_image, whole),
                       .lane_threads = lane_threads,
                       .least_seconds = std::min(kTrialSeconds, kTrialShare * request_.seconds),
                       .evaluates = report_.evaluation_images > 0,
                       .by_node = by_node}};
  one.key = key_of(execution_, job_, one.shape, session_.comm);
  if (request_.measures_again) return one;
  const std::optional<train::Trial> kept =
      session_.comm.rank() == 0 ? rates_.find(one.key) : std::nullopt;
  // All ranks use the value of rank 0.
  one.known = parse_trial(comm::broadcast_text(session_.comm, kept ? to_text(*kept) : ""));
  return one;
}

std::vector<Timing::Wanted> Timing::wanted() const {
  const std::vector<std::int64_t> sizes = micro_batches();
  std::vector<std::pair<std::int64_t, int>> list;  // micro-batch, threads of a lane
  for (const std::int64_t size : sizes) {
    const auto row = std::ranges::find_if(
        report_.rows, [&](const PlanRow& r) { return r.micro_batch == size && r.fits; });
    list.emplace_back(size, row->lane_threads);
  }
  for (const PlanRow& row : report_.rows) {  // other lanes, with the smallest micro-batch
    const bool known =
        std::ranges::any_of(list, [&](const auto& one) { return one.second == row.lane_threads; });
    if (row.fits && !known) list.emplace_back(sizes.front(), row.lane_threads);
  }
  const bool by_node = !request_.scaling.hosts.empty();
  std::vector<Wanted> all;
  for (const auto& [size, threads] : list) {
    all.push_back(wanted(size, threads, by_node && all.empty()));
  }
  return all;
}

// The limit is for the run, whose process begins anew. This one has planned and measured before.
train::ExecutionOptions Timing::execution_of_trial() const {
  train::ExecutionOptions execution = execution_;
  const std::size_t of_run = report_.rows.front().parts.parts.front().second;  // "program"
  const std::size_t now = train::memory_of_program();
  if (execution.memory_bytes > 0 && now > of_run) execution.memory_bytes += now - of_run;
  return execution;
}

void Timing::take(Wanted one) {
  if (!one.known) {
    one.known = train::try_steps(execution_of_trial(), job_, one.shape, backend_, session_.comm);
    measured_steps_ += static_cast<std::int64_t>(one.known->steps.size());
    if (session_.comm.rank() == 0) rates_.keep(one.key, *one.known);
  }
  trials_.push_back(timed_trial(*std::move(one.known), one.shape.lane_threads));
}

// Known trials count with the time that measuring them took, so that a plan and the one after it
// measure the same trials.
void Timing::fit_into_time(std::vector<Wanted>& left) const {
  const Timed& first = trials_.front();
  const double of_image = (first.step.total() + first.waited) / first.images();
  double whole = 0;
  for (const Timed& one : trials_) whole += one.trial.took_seconds;
  double more = 0;
  std::erase_if(left, [&](const Wanted& one) {
    const double images = static_cast<double>(one.shape.micro_batch * one.shape.micro_batches);
    const double cost =
        std::max(kPasses * of_image * images, one.shape.least_seconds) + first.trial.start_seconds;
    bool too_long = whole + cost > request_.seconds;
    too_long = comm::broadcast(session_.comm, std::uint8_t{too_long}, 0) != 0;
    if (too_long) return true;
    whole += cost;
    if (!one.known) more += cost;
    return false;
  });
  if (trials_.size() == 1 && more > 0) {
    say(session_, fmt::format("measuring steps takes about {:.0f} s more", more));
  }
}

void Timing::measure() { take_all(wanted()); }

bool Timing::measure_also(const PlanRow& row) {
  const bool is_of_size_measured = std::ranges::any_of(
      trials_, [&](const Timed& one) { return one.trial.form.micro_batch == row.micro_batch; });
  if (row.step_how == How::kMeasured || !is_of_size_measured) return false;
  const std::size_t before = trials_.size();
  std::vector<Wanted> one{wanted(row.micro_batch, row.lane_threads, false)};
  fit_into_time(one);
  take_all(std::move(one));
  return trials_.size() > before;
}

void Timing::take_all(std::vector<Wanted> left) {
  while (!left.empty()) {
    if (is_asked_to_stop(session_)) throw StoppedError("stopped; nothing was written");
    Wanted next = std::move(left.front());
    left.erase(left.begin());
    take(std::move(next));
    fit_into_time(left);
  }
}

StepForm Timing::form_of(const PlanRow& row) const {
  return {row.micro_batch, report_.rank_images / row.micro_batch, row.memory.lanes};
}

double Timing::loading_seconds(double images, double computing) const {
  const Timed& first = trials_.front();
  if (!job_.data.sampler) return 0;
  const double share = images / first.images();
  const double shared = share * first.trial.load_cpu / report_.cores;
  return std::max(shared, share * first.trial.load_wall - computing);
}

StepSeconds Timing::step_of(const PlanRow& row, std::int64_t rank_images) const {
  StepForm form = form_of(row);
  form.micro_batches = rank_images / row.micro_batch;
  form.lanes = static_cast<int>(std::min<std::int64_t>(form.lanes, form.micro_batches));
  StepSeconds step = step_by(trials_, form, row.lane_threads).step;
  step.data = waiting_seconds(trials_.front(), static_cast<double>(rank_images), step.total());
  return step;
}

void Timing::fill(PlanReport& report) const {
  for (PlanRow& row : report.rows) {
    const bool known =
        std::ranges::find(trials_, row.lane_threads, &Timed::lane_threads) != trials_.end();
    if (!row.fits || !known) continue;
    const StepOf found = step_by(trials_, form_of(row), row.lane_threads);
    row.step = step_of(row, report.rank_images);
    row.step_how = found.how;
    row.spread = found.spread;
  }
  double fastest = 0;
  for (PlanRow& row : report.rows) {  // by ascending micro-batch
    const double speed = row.images_per_second(report.rank_images);
    row.remark.clear();
    if (fastest > 0 && row.step && speed < 0.97 * fastest && row.memory.lanes > 0) {
      row.remark = row.step->idle > 0.1 * row.step->total() ? "lanes wait for each other"
                   : row.memory.lanes < report.cores / row.lane_threads
                       ? "fewer lanes have work or room"
                       : "slower an image: caches no longer hold a micro-batch, or other kernels";
    }
    fastest = std::max(fastest, speed);
  }
  report.kept_steps = 0;
  for (const Timed& one : trials_) {
    report.others_cores = std::max(report.others_cores, one.trial.others_cores);
    report.kept_steps += static_cast<std::int64_t>(one.trial.steps.size());
  }
  report.measured_steps = measured_steps_;
  report.kept_steps -= measured_steps_;
}

double Timing::round_seconds(const PlanRow& row) const {
  return (row.step->forward + row.step->backward) / static_cast<double>(form_of(row).rounds());
}

double Timing::start_seconds() const { return trials_.front().trial.start_seconds; }

double Timing::evaluation_seconds(const PlanRow& row, std::int64_t images) const {
  const Timed& at = trials_.front();
  if (images == 0 || at.trial.evaluation_seconds == 0) return 0;
  const double of_image =
      at.trial.evaluation_seconds / static_cast<double>(at.trial.form.micro_batch);
  const auto micro = static_cast<double>(row.micro_batch);
  const double share = std::ceil(static_cast<double>(images) / micro / report_.ranks) * micro;
  const double computing = share * of_image / row.memory.evaluation_lanes;
  return computing + loading_seconds(share, computing);
}

std::vector<double> Timing::node_ends(const PlanRow& row) const {
  std::vector<double> ends = trials_.front().trial.node_ends;
  const double wanted = round_seconds(row);
  const double factor = ends.empty() ? 1 : wanted / ends.back();
  for (double& end : ends) end *= factor;
  return ends;
}

}  // namespace winnow::app
