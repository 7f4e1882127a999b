#include "train/trace/run_trace.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/comm/agreement.h"
#include "common/file.h"
#include "common/host_name.h"
#include "train/trace/trace_json.h"

namespace winnow::train {

void RunTrace::begin(const std::filesystem::path& file, std::int64_t done,
                     std::function<void(std::string)> note) {
  recorder_.take();
  file_ = file;
  note_ = std::move(note);
  steps_ = steps_from(asked_, done);
  clocks_.reset();
  first_ = last_ = 0;
  is_written_ = false;
}

bool RunTrace::meets_before(std::int64_t step) const noexcept {
  return writes_before(step) || (is_traced(step) && !clocks_);
}

void RunTrace::begin_step(std::int64_t step) {
  if (writes_before(step)) write();
  if (!is_traced(step)) return;
  if (!clocks_) clocks_ = compare_clocks(comm_);
  if (first_ == 0) first_ = step;
  last_ = step;
  recorder_.begin_step(step);
  wait_begin_ns_ = TraceRecorder::now_ns();
}

void RunTrace::batch_is_here() {
  if (recorder_.is_on()) recorder_.add_wait(wait_begin_ns_, TraceRecorder::now_ns());
}

void RunTrace::finish() {
  if (is_written_) return;
  if (first_ > 0) return write();
  note_("nothing was traced: " + in_words(steps_) +
        " were not reached since this start of the run");
}

void RunTrace::write() {
  is_written_ = true;
  const Clocks now = compare_clocks(comm_);
  const auto rank = static_cast<std::size_t>(comm_.rank());
  const TracedRank here{.rank = comm_.rank(),
                        .host = host_name(),
                        .clock = {.begin_ns = clocks_->here_ns,
                                  .end_ns = now.here_ns,
                                  .begin_offset_ns = clocks_->offsets[rank].ns,
                                  .end_offset_ns = now.offsets[rank].ns},
                        .zero_ns = clocks_->root_ns};
  const std::string mine = trace_events(recorder_.take(), here);
  std::vector<std::string> events;
  for (int r = 0; r < comm_.size(); ++r) {
    std::string text = comm::broadcast(comm_, r == comm_.rank() ? mine : std::string(), r);
    if (comm_.rank() == 0) events.push_back(std::move(text));
  }
  TraceAbout about{.first_step = first_, .last_step = last_};
  for (std::size_t r = 0; r < now.offsets.size(); ++r) {
    about.clock_errors_ns.push_back(
        std::max(clocks_->offsets[r].error_ns, now.offsets[r].error_ns));
  }
  comm::on_root(comm_, [&] { write_file_durably(file_, trace_json(events, about)); });
  note_("trace of " + in_words({.first = first_, .last = last_}) + ": " + file_.string() +
        "; open it at https://ui.perfetto.dev");
}

}  // namespace winnow::train
