#include "common/checksum.h"

#include <gtest/gtest.h>

#include <string>

namespace winnow::checksum_test {

// The output of `xxh128sum` and `xxhsum -H3`.
TEST(Checksum, IsXxh3) {
  EXPECT_EQ(to_hex(xxh3_128({})), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(to_hex(xxh3_128(as_bytes("abc"))), "06b05ab6733a618578af5f94892f3950");
  EXPECT_EQ(to_hex(xxh3_64({})), "2d06800538d394c2");
  EXPECT_EQ(to_hex(xxh3_64(as_bytes("abc"))), "78af5f94892f3950");
}

TEST(Checksum, AStreamInAnyPiecesGivesTheSame) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += std::to_string(i * i);
  const Hash128 want = xxh3_128(as_bytes(text));
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{255}, text.size()}) {
    Xxh3Stream stream;
    for (std::size_t at = 0; at < text.size(); at += piece) {
      stream.update(as_bytes(std::string_view(text).substr(at, piece)));
    }
    EXPECT_EQ(stream.digest(), want) << piece;
    EXPECT_EQ(stream.digest_64(), xxh3_64(as_bytes(text))) << piece;
  }
  Xxh3Stream stream;
  EXPECT_EQ(stream.digest(), xxh3_128({}));
  stream.update(as_bytes("ab"));
  EXPECT_EQ(stream.digest(), xxh3_128(as_bytes("ab")));
  stream.update(as_bytes("c"));
  EXPECT_EQ(stream.digest(), xxh3_128(as_bytes("abc")));
}

// XXH3 treats short inputs differently in each class of lengths.
TEST(Checksum, AStreamOfAnyLengthGivesBothHashes) {
  std::string text;
  for (int length = 0; length < 1100; ++length) {
    Xxh3Stream stream;
    stream.update(as_bytes(text));
    EXPECT_EQ(stream.digest(), xxh3_128(as_bytes(text))) << length;
    EXPECT_EQ(stream.digest_64(), xxh3_64(as_bytes(text))) << length;
    text += static_cast<char>(length * 7);
  }
}

TEST(Checksum, HexGoesBothWays) {
  for (const char* text : {"", "abc", "winnow"}) {
    const Hash128 hash = xxh3_128(as_bytes(text));
    EXPECT_EQ(parse_hash128(to_hex(hash)), hash);
  }
  for (const char* wrong :
       {"", "06b05ab6733a618578af5f94892f395", "06b05ab6733a618578af5f94892f39501",
        "06B05ab6733a618578af5f94892f3950", "g6b05ab6733a618578af5f94892f3950"}) {
    EXPECT_THROW(parse_hash128(wrong), FormatError) << wrong;
  }
}

TEST(Checksum, HashesOrderAsTheirHexDoes) {
  const Hash128 a = xxh3_128(as_bytes("a"));
  const Hash128 b = xxh3_128(as_bytes("b"));
  EXPECT_EQ(a < b, to_hex(a) < to_hex(b));
  EXPECT_NE(a, b);
}

}  // namespace winnow::checksum_test
