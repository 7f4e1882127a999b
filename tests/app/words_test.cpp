#include "app/words.h"

#include <gtest/gtest.h>

#include "app/page/html.h"

namespace winnow::app::words_test {

TEST(Words, Numbers) {
  EXPECT_EQ(percent(0.12345), "12.35 %");
  EXPECT_EQ(in_bytes(1023), "1023 B");
  EXPECT_EQ(in_bytes(1024), "1.0 KiB");
  EXPECT_EQ(in_bytes(9 << 20), "9.0 MiB");
  EXPECT_EQ(in_bytes(10'200), "10 KiB");
  EXPECT_EQ(in_bytes((1 << 20) - 1), "1.0 MiB");
  EXPECT_EQ(in_bytes(~std::uint64_t{0}), "16 EiB");
  EXPECT_EQ(in_seconds(0.123), "0.12 s");
  EXPECT_EQ(in_seconds(9.94), "9.9 s");
  EXPECT_EQ(in_seconds(59.4), "59 s");
  EXPECT_EQ(in_seconds(59.6), "1 min 0 s");
  EXPECT_EQ(in_seconds(7322), "2 h 2 min");
  EXPECT_EQ(in_megapixels(187'500), "0.19");
  EXPECT_EQ(in_megapixels(1024), "0.0010");
  EXPECT_EQ(in_megapixels(12'192'768), "12");
}

TEST(Words, RangesAreThoseOfTheBuckets) {
  EXPECT_EQ(short_side_range(16), "256-362");
  EXPECT_EQ(short_side_range(17), "363-511");
  EXPECT_EQ(short_side_range(0), "1");
  EXPECT_EQ(file_bytes_range(9), "512-1024 B");
  EXPECT_EQ(file_bytes_range(10), "1-2 KiB");
  EXPECT_EQ(file_bytes_range(63), "8-16 EiB");
  EXPECT_EQ(pixels_range(20), "1.0-2.1");
  EXPECT_EQ(aspect_range(pipeline::kSquare), "0.92-1.09");
  EXPECT_EQ(aspect_range(pipeline::kSquare + 2), "1.30-1.54");
  EXPECT_EQ(aspect_range(pipeline::kSquare - 2), "0.65-0.77");
  for (int bucket = 0; bucket < 63; ++bucket) {  // each range begins where its bucket does
    const std::string range = short_side_range(bucket);
    if (bucket == 1) continue;  // there is no integer between 1.41 and 2
    const auto first = static_cast<std::uint32_t>(std::stoull(range));
    EXPECT_EQ(pipeline::half_octave(first), bucket) << range;
    if (first == 1) continue;
    EXPECT_LT(pipeline::half_octave(first - 1), bucket) << range;
  }
}

TEST(Words, FoldersAreCalledByTheirLastPart) {
  for (const char* path : {"cache", "cache/", "./cache", "photos/cache//", "/photos/../cache/."}) {
    EXPECT_EQ(name_of_folder(path), "cache") << path;
  }
  EXPECT_EQ(name_of_folder("."), std::filesystem::current_path().filename());
  EXPECT_EQ(name_of_folder("/"), "");
}

TEST(Words, BalanceOfClasses) {
  pipeline::Statistics s(3);
  s.splits[1].classes = {5, 0, 2};
  s.splits[3].classes = {1, 0, 1};
  EXPECT_EQ(images_by_class(s), (std::vector<std::uint64_t>{6, 0, 3}));
  const Balance balance = balance_of(images_by_class(s));
  EXPECT_EQ(balance.classes, 2U);
  EXPECT_EQ(balance.without, 1U);
  EXPECT_EQ(balance.least, 3U);
  EXPECT_EQ(balance.most, 6U);
  EXPECT_EQ(in_words(balance), "3 to 6 images a class, none in 1");
  EXPECT_EQ(in_words(balance_of({7, 7})), "7 images a class");
  EXPECT_EQ(in_words(balance_of({1})), "1 image a class");
  EXPECT_EQ(in_words(balance_of({})), "no images");
}

TEST(Words, AShellTakesAnyNameAsOneWord) {
  EXPECT_EQ(shell_word("photos/a-1.jpg"), "photos/a-1.jpg");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("two words"), "'two words'");
  EXPECT_EQ(shell_word("it's $HOME"), "'it'\\''s $HOME'");
  EXPECT_EQ(shell_word("caf\xC3\xA9"), "'caf\xC3\xA9'");
  EXPECT_EQ(shell_word("caf\xE9 'x'\n\\"), "$'caf\\xe9 \\'x\\'\\x0a\\\\'");
}

}  // namespace winnow::app::words_test
