#include "train/run/log/event_file.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "common/tfrecord_frame.h"
#include "common/wire_writer.h"

namespace winnow::train {
namespace {

namespace fs = std::filesystem;

// TensorBoard reads files with "tfevents" in their names, in the order of names. Our suffix ensures
// that only our files are removed.
constexpr std::string_view kBegin = "events.out.tfevents.";
constexpr std::string_view kEnd = ".winnow";

// Field numbers are those of event.proto and summary.proto.
WireWriter event(double wall_time, std::int64_t step) {
  WireWriter out;
  out.real(1, wall_time).number(2, step);
  return out;
}

std::string tag_of(std::string name) {
  std::ranges::replace(name, '.', '/');
  return name;
}

// The time in seconds in the name of one of our files.
std::optional<std::int64_t> second_of(const fs::path& path) {
  const std::string name = path.filename().string();
  if (!name.starts_with(kBegin) || !name.ends_with(kEnd)) return std::nullopt;
  std::int64_t second = 0;
  const char* begin = name.data() + kBegin.size();
  const char* end = name.data() + name.size() - kEnd.size();
  const auto [stop, error] = std::from_chars(begin, end, second);
  if (error != std::errc() || stop != end) return std::nullopt;
  return second;
}

}  // namespace

EventFile::EventFile(const fs::path& folder, const std::vector<MetricsRow>& rows,
                     double wall_before) {
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  began_ = now - wall_before;
  make_directories(folder);
  auto second = static_cast<std::int64_t>(now);
  std::vector<fs::path> before;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const auto other = second_of(entry.path());
    if (!other) continue;
    before.push_back(entry.path());
    second = std::max(second, *other + 1);
  }
  // A session start at step 0 makes readers discard everything from earlier files.
  WireWriter version = event(began_, 0).text(3, "brain.Event:2");
  WireWriter session;
  session.number(1, 1);
  WireWriter start = event(began_, 0).message(7, session);
  Bytes all = tfrecord_of(version.view());
  const auto add = [&](const Bytes& record) {
    all.insert(all.end(), record.begin(), record.end());
  };
  add(tfrecord_of(start.view()));
  for (const MetricsRow& row : rows) add(event_of(row));
  const fs::path path = folder / (std::string(kBegin) + std::to_string(second) + std::string(kEnd));
  write_file_durably(path, all);
  for (const fs::path& old : before) remove_file(old);
  out_.emplace(path);
}

Bytes EventFile::event_of(const MetricsRow& row) const {
  if (row.values.empty()) return {};
  WireWriter summary;
  for (const auto& [name, value] : row.values) {
    WireWriter scalar;
    scalar.text(1, tag_of(name)).real(2, static_cast<float>(value));
    summary.message(1, std::move(scalar));
  }
  WireWriter out = event(began_ + row.wall, row.step).message(5, std::move(summary));
  return tfrecord_of(out.view());
}

void EventFile::write(const MetricsRow& row) {
  const Bytes record = event_of(row);
  if (!record.empty()) out_->append(as_text(record));
}

void EventFile::sync() { out_->sync(); }

}  // namespace winnow::train
