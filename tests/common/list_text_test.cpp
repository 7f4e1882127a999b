#include "common/list_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "common/error.h"
#include "common/file.h"
#include "common/known_bytes.h"
#include "tests/common/temporary_folder.h"

namespace winnow::list_text_test {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::string_literals;

std::string utf16(std::u16string_view text, bool big_endian, bool mark) {
  std::string out;
  const auto put = [&](char16_t unit) {
    const char low = static_cast<char>(unit & 255);
    const char high = static_cast<char>(unit >> 8);
    out += big_endian ? std::string{high, low} : std::string{low, high};
  };
  if (mark) put(u'\uFEFF');
  for (const char16_t unit : text) put(unit);
  return out;
}

class ListTextTest : public testing::Test {
 protected:
  std::filesystem::path file(const std::string& bytes) const {
    const auto path = folder_ / "list.txt";
    write_file_durably(path, bytes);
    return path;
  }
  std::string refusal(const std::string& bytes) const {
    try {
      read_list_text(file(bytes));
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  }
  TemporaryFolder folder_;
};

TEST_F(ListTextTest, AMissingFileIsRefused) {
  EXPECT_THROW(read_list_text(folder_ / "nowhere.txt"), UsageError);
  EXPECT_THROW(read_list_lines(folder_ / "nowhere.txt"), UsageError);
}

TEST_F(ListTextTest, EveryEncodingIsTheSameText) {
  const std::string want = "caf\u00E9,1\nb\U0001F600,\u65E5\n";
  const std::u16string same = u"caf\u00E9,1\nb\U0001F600,\u65E5\n";
  EXPECT_EQ(read_list_text(file(want)), want);
  EXPECT_EQ(read_list_text(file("\xEF\xBB\xBF" + want)), want);
  for (const bool big_endian : {false, true}) {
    EXPECT_EQ(read_list_text(file(utf16(same, big_endian, true))), want);
    EXPECT_EQ(read_list_text(file(utf16(same, big_endian, false))), want);
    EXPECT_EQ(beginning_of_list(file(utf16(same, big_endian, true))), want);
  }
}

// Characters and line ends fall on both sides of the pieces in which a file is read.
TEST_F(ListTextTest, LongTextsAreReadInPieces) {
  std::u16string text;
  std::string want;
  for (int i = 0; i < 400'000; ++i) {
    text += i % 7 == 0 ? u"\U0001F600" : i % 5 == 0 ? u"\r" : u"a";
    want += i % 7 == 0 ? "\U0001F600" : i % 5 == 0 ? "\n" : "a";
  }
  EXPECT_EQ(read_list_text(file(utf16(text, false, true))), want);
  EXPECT_EQ(read_list_text(file(utf16(u"x" + text, true, true))), "x" + want);
}

TEST_F(ListTextTest, LinesEndInLfInCrLfOrInCr) {
  for (const char* end : {"\n", "\r\n", "\r"}) {
    const std::string text = "one"s + end + end + "two" + end + "three";
    EXPECT_THAT(read_list_lines(file(text)), ElementsAre("one", "", "two", "three"));
  }
  EXPECT_EQ(read_list_text(file("a\rb\nc")), "a\rb\nc");  // a lone CR, within a line
  EXPECT_THAT(read_list_lines(file("")), ElementsAre());
}

TEST_F(ListTextTest, RefusesWhatIsNoList) {
  EXPECT_THAT(
      refusal("version https://git-lfs.github.com/spec/v1\noid sha256:4d\n"),
      HasSubstr("list.txt is a Git LFS pointer, not the file that it stands for; get the file"));
  EXPECT_THAT(refusal("\n <!DOCTYPE HTML><html>404</html>"), HasSubstr("is a web page"));
  EXPECT_THAT(refusal("PK\x03\x04rest"), HasSubstr("is a zip archive; unpack it"));
  EXPECT_THAT(refusal("\x1f\x8b rest"), HasSubstr("is compressed by gzip; unpack it"));
  EXPECT_THAT(refusal("\xFF\xFE\0\0a\0\0\0"s), HasSubstr("UTF-32; save it as UTF-8"));
  for (const std::u16string& half :
       {u"a"s + char16_t{0xD83D}, u"a"s + char16_t{0xDE00}, u"a"s + char16_t{0xD83D} + u"b"}) {
    EXPECT_THAT(refusal(utf16(half, false, true)), HasSubstr("incomplete character"));
  }
  EXPECT_THAT(refusal("\xFF\xFE"
                      "a\0b"s),
              HasSubstr("incomplete character"));
  EXPECT_EQ(beginning_of_list(file("PK\x03\x04rest")), "");
}

TEST(KnownBytes, ImagesAreKnownByTheirFirstBytes) {
  const auto is_image = [](std::string_view text) { return begins_as_image(as_bytes(text)); };
  for (const std::string& image :
       {"\xff\xd8\xff\xe0"s, "\x89PNG\r\n\x1a\nIHDR"s, "GIF89a"s, "II*\0"s, "MM\0*"s,
        "BM\1\2\3\4\0\0\0\0\5\6"s, "RIFF\1\2\3\4WEBP"s}) {
    EXPECT_TRUE(is_image(image)) << image;
    EXPECT_EQ(known_bytes(as_bytes(image)), nullptr) << image;
  }
  for (const std::string& other : {""s, "BMI, kg and so on"s, "RIFF\1\2\3\4WAVE"s, "A licence"s}) {
    EXPECT_FALSE(is_image(other)) << other;
    EXPECT_EQ(known_bytes(as_bytes(other)), nullptr) << other;
  }
}

}  // namespace winnow::list_text_test
