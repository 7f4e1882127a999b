// Event files, read back by the project's own readers of TFRecord frames and Protocol Buffers.
// tests/end_to_end/follow_test.py reads them with TensorBoard.

#include "train/run/log/event_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "common/crc32c.h"
#include "common/file.h"
#include "common/tfrecord_frame.h"
#include "datasets/wire.h"
#include "tests/common/temporary_folder.h"

namespace winnow::train::event_file_test {

namespace fs = std::filesystem;
using datasets::WireField;
using datasets::WireReader;
using testing::ElementsAre;
using testing::Pair;

struct ReadEvent {
  double wall_time = 0;
  std::int64_t step = -1;
  std::string version;
  bool starts_session = false;
  std::vector<std::pair<std::string, float>> scalars;
};

class Records {
 public:
  explicit Records(const fs::path& path) : bytes_(read_file(path)) {}

  std::vector<ReadEvent> events() const {
    std::vector<ReadEvent> found;
    for (BytesView rest = bytes_; !rest.empty();) {
      const auto length = tfrecord_length(rest.first(kTfrecordHeaderBytes));
      EXPECT_TRUE(length.has_value());
      if (!length) break;
      const BytesView data = rest.subspan(kTfrecordHeaderBytes, *length);
      Crc32c crc;
      crc.update(data);
      std::uint32_t stored = 0;
      std::memcpy(&stored, data.data() + data.size(), sizeof(stored));
      EXPECT_EQ(crc.masked(), stored);
      found.push_back(parse(data));
      rest = rest.subspan(kTfrecordHeaderBytes + *length + kTfrecordFooterBytes);
    }
    return found;
  }

 private:
  static std::string text_at(BytesView data, datasets::WireRange range) {
    return std::string(as_text(data.subspan(range.begin, range.size)));
  }

  static ReadEvent parse(BytesView data) {
    const datasets::Look look = datasets::look_into(data);
    WireReader in(look, {0, data.size()});
    ReadEvent event;
    for (WireField field; in.next(field);) {
      if (field.number == 1) event.wall_time = std::bit_cast<double>(field.value);
      if (field.number == 2) event.step = static_cast<std::int64_t>(field.value);
      if (field.number == 3) event.version = text_at(data, field.range);
      if (field.number == 5) parse_summary(data, look, field.range, event);
      if (field.number == 7) event.starts_session = text_at(data, field.range) == "\x08\x01";
    }
    EXPECT_FALSE(in.bad());
    return event;
  }

  static void parse_summary(BytesView data, const datasets::Look& look, datasets::WireRange range,
                            ReadEvent& event) {
    WireReader in(look, range);
    for (WireField value; in.next(value);) {
      EXPECT_EQ(value.number, 1U);
      WireReader scalar(look, value.range);
      auto& [tag, number] = event.scalars.emplace_back();
      for (WireField field; scalar.next(field);) {
        if (field.number == 1) tag = text_at(data, field.range);
        if (field.number == 2) {
          number = std::bit_cast<float>(static_cast<std::uint32_t>(field.value));
        }
      }
      EXPECT_FALSE(scalar.bad());
    }
    EXPECT_FALSE(in.bad());
  }

  Bytes bytes_;
};

class EventFileTest : public testing::Test {
 protected:
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder_)) found.push_back(entry.path());
    std::ranges::sort(found);
    return found;
  }

  const TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

TEST_F(EventFileTest, HoldsEveryNumberOfEveryRowOnce) {
  EventFile file(folder_, {{300, 1.5, 20, {{"train.loss", 0.5}, {"val.top1", 0.25}}}}, 20);
  file.write({301, 1.75, 30, {{"train.lr", 1e-3}}});
  file.write({302, 1.75, 31, {}});
  file.sync();
  ASSERT_EQ(files().size(), 1U);
  const auto events = Records(files().front()).events();
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[0].version, "brain.Event:2");
  EXPECT_TRUE(events[1].starts_session);
  EXPECT_EQ(events[1].step, 0);
  EXPECT_EQ(events[2].step, 300);
  EXPECT_THAT(events[2].scalars, ElementsAre(Pair("train/loss", 0.5F), Pair("val/top1", 0.25F)));
  EXPECT_EQ(events[3].step, 301);
  EXPECT_THAT(events[3].scalars, ElementsAre(Pair("train/lr", 1e-3F)));
  EXPECT_NEAR(events[3].wall_time - events[2].wall_time, 10, 1e-6);
}

TEST_F(EventFileTest, ANewStartTakesThePlaceOfTheFilesBefore) {
  EventFile(folder_, {}, 0).write({1, 0, 1, {{"train.loss", 4}}});
  const fs::path before = files().front();
  write_file_durably(folder_ / "events.out.tfevents.1.host", "another's");
  EventFile(folder_, {{1, 0, 1, {{"train.loss", 3}}}}, 1).write({2, 0, 2, {{"train.loss", 2}}});
  ASSERT_EQ(files().size(), 2U);
  EXPECT_EQ(files().front(), folder_ / "events.out.tfevents.1.host");
  EXPECT_GT(files().back(), before) << "TensorBoard reads files in the order of their names";
  const auto events = Records(files().back()).events();
  ASSERT_EQ(events.size(), 4U);
  EXPECT_THAT(events[2].scalars, ElementsAre(Pair("train/loss", 3.0F)));
  EXPECT_THAT(events[3].scalars, ElementsAre(Pair("train/loss", 2.0F)));
}

TEST(Metrics, AreReadWithoutLinesThatAreCutShort) {
  const TemporaryFolder folder;
  const fs::path path = folder / "metrics.jsonl";
  write_file_durably(path,
                     "{\"step\":5,\"epoch\":0.5,\"wall\":2.5,\"run\":\"ab\",\"train.loss\":1.5}\n"
                     "{\"step\":6,\"epoch\":0.6,\"wall\":3,\"val.top1\":0.5,\"val.loss\":null}\n"
                     "{\"step\":7,\"epo");
  const auto rows = read_metrics(path);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].step, 5);
  EXPECT_EQ(rows[0].epoch, 0.5);
  EXPECT_EQ(rows[0].wall, 2.5);
  EXPECT_THAT(rows[0].values, ElementsAre(Pair("train.loss", 1.5)));
  EXPECT_THAT(rows[1].values, ElementsAre(Pair("val.top1", 0.5)));
  MetricsLog(path, 6, /*evaluates_again=*/true).write({6, 0.6, 4, {{"val.top1", 0.5}}});
  const auto again = read_metrics(path);
  ASSERT_EQ(again.size(), 2U);
  EXPECT_EQ(again[1].wall, 4);
  fs::remove(path);
}

}  // namespace winnow::train::event_file_test
