#include "datasets/spool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/error.h"
#include "tests/common/temporary_folder.h"
#include "tests/datasets/source_lines.h"

namespace winnow::datasets::spool_test {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

SpooledItem item(std::string_view bytes, std::vector<std::string> labels = {},
                 std::string_view name = "") {
  return {.name = name,
          .split = Split::kTrain,
          .labels = std::move(labels),
          .group = "g",
          .image = as_bytes(bytes)};
}

class SpoolTest : public testing::Test {
 protected:
  Spool open() const { return Spool(folder_ / "spool"); }
  fs::path file() const { return folder_ / "spool/items"; }

  TemporaryFolder folder_;
};

TEST_F(SpoolTest, GivesItemsInTheirOrder) {
  Spool spool = open();
  const std::vector<std::uint8_t> levels{1, 2, 3, 4, 5, 6};
  spool.append(item("first", {"2"}));
  spool.append(
      {.split = Split::kTest, .labels = {"-1"}, .image = ImageView{levels.data(), 1, 2, 3, 6}});
  spool.append(item("", {"0", "2"}, "a/b.jpg"));
  spool.append({.name = "gone", .group = "", .image = {}});
  const auto source = spool.open({});
  EXPECT_THAT(lines_of(*source),
              ElementsAre("00000 train 2", "00001 test ", "a/b.jpg train 0,2", "gone none "));
  EXPECT_THAT(std::vector(source->class_names().begin(), source->class_names().end()),
              ElementsAre("0", "1", "2"));
  EXPECT_EQ(source->entries().group(0), "g");
  EXPECT_EQ(source->entries().input_bytes(1), 6U);
  EXPECT_EQ(content_of(*source, 0), "first");
  const auto pixels = source->read(1);
  ASSERT_TRUE(pixels);
  EXPECT_EQ(std::get<Image>(*pixels).pixels, levels);
  EXPECT_EQ(source->read(2).error().kind, ReadError::Kind::kEmpty);
  EXPECT_EQ(source->read(3).error().kind, ReadError::Kind::kMissing);
  EXPECT_EQ(source->format(), "items");
}

TEST_F(SpoolTest, LabelsAreNumbersOrNames) {
  {
    Spool spool = open();
    spool.append(item("x", {"1"}));
    EXPECT_EQ(line_of(*spool.open(std::vector<std::string>{"cat", "dog"}), 0), "00000 train dog");
    EXPECT_THAT([&] { spool.open(std::vector<std::string>{"cat"}); },
                ThrowsMessage<UsageError>(HasSubstr("label 1 occurs")));
    spool.remove();
  }
  Spool spool = open();
  spool.append(item("x", {"dog"}));
  spool.append(item("y", {"cat"}));
  const auto source = spool.open({});
  EXPECT_THAT(std::vector(source->class_names().begin(), source->class_names().end()),
              ElementsAre("cat", "dog"));
}

TEST_F(SpoolTest, GoesOnAfterTheLastWholeItem) {
  const std::vector<std::string> words{"one", "two", "three"};
  std::vector<std::uint64_t> sizes{0};
  {
    Spool spool = open();
    for (const std::string& word : words) {
      spool.append(item(word, {word}));
      sizes.push_back(fs::file_size(file()));
    }
  }
  const std::string whole = read_text(file());
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    remove_file(file());
    write_new_file(file(), as_bytes(whole.substr(0, length)));
    Spool spool = open();
    const auto fits = [&](std::uint64_t size) { return size <= length; };
    const auto kept = static_cast<std::uint64_t>(std::ranges::count_if(sizes, fits)) - 1;
    ASSERT_EQ(spool.size(), kept) << length;
    ASSERT_EQ(fs::file_size(file()), sizes[kept]);
    for (std::uint64_t i = kept; i < words.size(); ++i) spool.append(item(words[i], {words[i]}));
    ASSERT_EQ(read_text(file()), whole) << length;
  }
}

TEST_F(SpoolTest, NoChangedByteIsTakenForAnItem) {
  {
    Spool spool = open();
    spool.append(item("one", {"1"}, "name"));
    spool.append(item("two"));
  }
  const std::string whole = read_text(file());
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x41);
    remove_file(file());
    write_new_file(file(), as_bytes(changed));
    ASSERT_LT(open().size(), 2U) << at;
  }
}

TEST_F(SpoolTest, TellsWhetherAnItemIsTheSame) {
  Spool spool = open();
  spool.append(item("one", {"1"}, "name"));
  EXPECT_TRUE(spool.holds(0, item("one", {"1"}, "name")));
  EXPECT_FALSE(spool.holds(0, item("one", {"2"}, "name")));
  EXPECT_FALSE(spool.holds(0, item("one", {"1"}, "other")));
  EXPECT_FALSE(spool.holds(0, item("two", {"1"}, "name")));
}

TEST_F(SpoolTest, RefusesWhatMakesNoSense) {
  Spool spool = open();
  EXPECT_THAT([&] { spool.open({}); }, ThrowsMessage<UsageError>(HasSubstr("no item")));
  for (const char* name : {"/etc/passwd", "a/../b", "a//b", "line\nline"}) {
    EXPECT_THAT([&] { spool.append(item("x", {}, name)); },
                ThrowsMessage<UsageError>(HasSubstr("not a relative path")));
  }
  const std::string long_name(2 << 20, 'x');
  EXPECT_THROW(spool.append({.group = long_name, .image = as_bytes("x")}), UsageError);
  EXPECT_EQ(spool.size(), 0U);
  EXPECT_THAT([&] { open(); }, ThrowsMessage<UsageError>(HasSubstr("in use")));
  fs::create_directory(folder_ / "other");
  write_new_file(folder_ / "other/theirs", as_bytes("x"));
  EXPECT_THAT([&] { Spool(folder_ / "other"); }, ThrowsMessage<UsageError>(HasSubstr("theirs")));
  EXPECT_THAT([&] { Spool(folder_ / "other/theirs"); },
              ThrowsMessage<UsageError>(HasSubstr("move it away")));
  spool.append(item("x"));
  EXPECT_THROW(Spool(folder_ / "spool", [] { return true; }), Error);
}

TEST_F(SpoolTest, LeavesNothing) {
  Spool spool = open();
  spool.append(item("x"));
  spool.remove();
  EXPECT_FALSE(fs::exists(folder_ / "spool"));
}

}  // namespace winnow::datasets::spool_test
