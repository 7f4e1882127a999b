#include "train/run/event_file.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/tfrecord_frame.h"

namespace winnow::train {
namespace {

namespace fs = std::filesystem;

// TensorBoard takes files with "tfevents" in their names, in the order of these. Ours end so that
// no others are removed.
constexpr std::string_view kBegin = "events.out.tfevents.";
constexpr std::string_view kEnd = ".winnow";

// Protocol Buffers on the wire. Numbers of fields are those of event.proto and summary.proto.
enum Wire : std::uint64_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

class Message {
 public:
  Message& number(std::uint64_t field, std::int64_t value) {
    key(field, kVarint);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  Message& real(std::uint64_t field, double value) {
    key(field, kFixed64);
    out_.put(value);
    return *this;
  }
  Message& real(std::uint64_t field, float value) {
    key(field, kFixed32);
    out_.put(value);
    return *this;
  }
  Message& bytes(std::uint64_t field, BytesView value) {
    key(field, kBytes);
    varint(value.size());
    out_.put_bytes(value);
    return *this;
  }
  Message& text(std::uint64_t field, std::string_view value) {
    return bytes(field, as_bytes(value));
  }
  BytesView view() { return out_.bytes(); }

 private:
  void key(std::uint64_t field, Wire type) { varint(field << 3 | type); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_.put(static_cast<std::uint8_t>(value | 0x80));
    out_.put(static_cast<std::uint8_t>(value));
  }

  ByteWriter out_;
};

Message event(double wall_time, std::int64_t step) {
  Message out;
  out.real(1, wall_time).number(2, step);
  return out;
}

std::string tag_of(std::string name) {
  std::ranges::replace(name, '.', '/');
  return name;
}

// The second in the name of a file of ours.
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
  // The start of a session at step 0 takes back all that a reader has of files before.
  Message version = event(began_, 0).text(3, "brain.Event:2");
  Message session;
  session.number(1, 1);
  Message start = event(began_, 0).bytes(7, session.view());
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
  Message summary;
  for (const auto& [name, value] : row.values) {
    Message scalar;
    scalar.text(1, tag_of(name)).real(2, static_cast<float>(value));
    summary.bytes(1, scalar.view());
  }
  Message out = event(began_ + row.wall, row.step).bytes(5, summary.view());
  return tfrecord_of(out.view());
}

void EventFile::write(const MetricsRow& row) {
  const Bytes record = event_of(row);
  if (!record.empty()) out_->append(as_text(record));
}

void EventFile::sync() { out_->sync(); }

}  // namespace winnow::train
