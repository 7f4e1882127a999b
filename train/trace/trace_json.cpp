#include "train/trace/trace_json.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <string_view>
#include <utility>

#include "common/json.h"

namespace winnow::train {
namespace {

using Row = TraceSpan::Row;
// Text such as "1234.567". A double is not exact enough for a clock of years.
std::string microseconds(std::int64_t ns) {
  const std::int64_t size = ns < 0 ? -ns : ns;
  std::string decimals = std::to_string(size % 1000);
  decimals.insert(0, 3 - decimals.size(), '0');
  return (ns < 0 ? "-" : "") + std::to_string(size / 1000) + "." + decimals;
}

int process_of(const TracedRank& rank) { return rank.rank + 1; }

// Thread number of the first row of each kind; further rows follow it. Viewers list rows in this
// order, except that the one with its process's number comes first, because they take it for the
// main thread.
int first_row(Row row, const TracedRank& rank) {
  switch (row) {
    case Row::kStep:
      return process_of(rank);
    case Row::kDataWait:
      return 1'000'000;
    case Row::kThread:
      return 1'001'000;
    case Row::kUpdate:
      return 1'002'000;
    case Row::kCommunication:
      return 1'003'000;
    case Row::kDataExchange:
      return 1'004'000;
  }
  return 0;
}

std::string name_of_row(Row row, std::size_t index, const TraceRecord& record) {
  const std::string number = index == 0 ? "" : " " + std::to_string(index + 1);
  switch (row) {
    case Row::kStep:
      return "steps";
    case Row::kDataWait:
      return "data wait";
    case Row::kThread:
      return record.lanes.at(index) == kAnyLane ? "helper (thread " + std::to_string(index) + ")"
                                                : "lane " + std::to_string(record.lanes.at(index));
    case Row::kUpdate:
      return "update";
    case Row::kCommunication:
      return "communication" + number;
    case Row::kDataExchange:
      return "data exchange" + number;
  }
  return {};
}

// The row of each span among those of its kind: the first row that is free when the span begins.
// In  `spans`: by ascending begin.
std::vector<std::size_t> places_of(const std::vector<const TraceSpan*>& spans) {
  std::vector<std::size_t> places;
  std::vector<std::int64_t> free_from;
  for (const TraceSpan* span : spans) {
    const auto free = std::ranges::find_if(
        free_from, [&](std::int64_t end_ns) { return end_ns <= span->begin_ns; });
    places.push_back(static_cast<std::size_t>(free - free_from.begin()));
    if (free == free_from.end()) free_from.push_back(0);
    free_from[places.back()] = span->end_ns;
  }
  return places;
}

std::string event_of(const TraceSpan& span, const TracedRank& rank, int thread) {
  const std::int64_t begin = rank.clock.of_root(span.begin_ns) - rank.zero_ns;
  const std::int64_t end = rank.clock.of_root(span.end_ns) - rank.zero_ns;
  Json args{{"step", span.step}};
  if (span.micro_batch >= 0) args["micro_batch"] = span.micro_batch;
  if (span.bytes > 0) args["bytes"] = span.bytes;
  return R"({"name":)" + Json(span.name).dump() + R"(,"ph":"X","pid":)" +
         std::to_string(process_of(rank)) + R"(,"tid":)" + std::to_string(thread) + R"(,"ts":)" +
         microseconds(begin) + R"(,"dur":)" + microseconds(std::max<std::int64_t>(0, end - begin)) +
         R"(,"args":)" + args.dump() + "}";
}

std::string about(const TracedRank& rank, int thread, std::string_view what, Json args) {
  Json event{{"name", what}, {"ph", "M"}, {"pid", process_of(rank)}};
  if (thread > 0) event["tid"] = thread;
  event["args"] = std::move(args);
  return event.dump(-1, /*ascii=*/false, Json::Utf8::kReplace);
}

constexpr std::string_view kBetween = ",\n";

}  // namespace

std::string trace_events(const TraceRecord& record, const TracedRank& rank) {
  std::string host = rank.host.empty() ? "" : " (" + rank.host + ")";
  std::string text =
      about(rank, 0, "process_name", {{"name", "rank " + std::to_string(rank.rank) + host}});
  text += kBetween;
  text += about(rank, 0, "process_sort_index", {{"sort_index", rank.rank}});
  std::vector<const TraceSpan*> spans;
  for (const TraceSpan& span : record.spans) spans.push_back(&span);
  // Enclosing spans come before those they contain.
  std::ranges::stable_sort(spans, [](const TraceSpan* a, const TraceSpan* b) {
    return a->begin_ns != b->begin_ns ? a->begin_ns < b->begin_ns : a->end_ns > b->end_ns;
  });
  for (const Row row : {Row::kStep, Row::kDataWait, Row::kThread, Row::kUpdate, Row::kCommunication,
                        Row::kDataExchange}) {
    std::vector<const TraceSpan*> here;
    std::ranges::copy_if(spans, std::back_inserter(here),
                         [&](const TraceSpan* span) { return span->row == row; });
    const bool overlap = row == Row::kCommunication || row == Row::kDataExchange;
    std::vector<std::size_t> places = overlap ? places_of(here) : std::vector<std::size_t>();
    std::set<std::size_t> named;
    for (std::size_t i = 0; i < here.size(); ++i) {
      const std::size_t place = overlap ? places[i] : static_cast<std::size_t>(here[i]->thread);
      const int thread = first_row(row, rank) + static_cast<int>(place);
      if (named.insert(place).second) {
        text += kBetween;
        text += about(rank, thread, "thread_name", {{"name", name_of_row(row, place, record)}});
        text += kBetween;
        text += about(rank, thread, "thread_sort_index", {{"sort_index", thread}});
      }
      text += kBetween;
      text += event_of(*here[i], rank, thread);
    }
  }
  return text;
}

std::string trace_json(const std::vector<std::string>& events, const TraceAbout& about) {
  std::string errors;
  for (const std::int64_t ns : about.clock_errors_ns) {
    errors += (errors.empty() ? "" : ",") + microseconds(ns);
  }
  std::string text =
      R"({"otherData":{"schema":"winnow.trace/1","first_step":)" +
      std::to_string(about.first_step) + R"(,"last_step":)" + std::to_string(about.last_step) +
      R"(,"clock":"times are those of rank 0's clock; each rank's may be off by as many )"
      R"(microseconds as clock_error_us says","clock_error_us":[)" +
      errors + "]},\n\"displayTimeUnit\":\"ms\",\n\"traceEvents\":[\n";
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (i > 0) text += kBetween;
    text += events[i];
  }
  return text + "\n]}\n";
}

}  // namespace winnow::train
