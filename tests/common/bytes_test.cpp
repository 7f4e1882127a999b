#include "common/bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "common/expected.h"
#include "common/unique_handle.h"

namespace winnow::bytes_test {

enum class Colour : std::uint16_t { kRed = 0x0102 };

TEST(Bytes, WhatIsWrittenIsReadBack) {
  ByteWriter writer;
  writer.put(std::uint8_t{7});
  writer.put(Colour::kRed);
  writer.put(-1.5);
  writer.put_text("name");
  writer.pad_to(8);
  const std::vector<std::int32_t> numbers{-1, 2, std::numeric_limits<std::int32_t>::max()};
  writer.put_array(std::span<const std::int32_t>(numbers));
  const Bytes bytes = std::move(writer).take();

  ByteReader reader(bytes, "a test");
  EXPECT_EQ(reader.get<std::uint8_t>(), 7);
  EXPECT_EQ(reader.get<Colour>(), Colour::kRed);
  EXPECT_EQ(reader.get<double>(), -1.5);
  EXPECT_EQ(reader.get_text(4), "name");
  reader.align_to(8);
  EXPECT_EQ(reader.position(), 16U);
  EXPECT_EQ(reader.get_array<std::int32_t>(3), numbers);
  EXPECT_EQ(reader.remaining(), 0U);
}

TEST(Bytes, NumbersAreLittleEndianOnDisk) {
  ByteWriter writer;
  writer.put(std::uint32_t{0x01020304});
  EXPECT_THAT(writer.bytes(),
              testing::ElementsAre(std::byte{4}, std::byte{3}, std::byte{2}, std::byte{1}));
}

TEST(Bytes, ReadingPastTheEndNamesTheFile) {
  const Bytes bytes(10);
  const auto refused = [&](auto read) {
    ByteReader reader(bytes, "shard 7");
    try {
      read(reader);
    } catch (const FormatError& error) {
      return std::string(error.what()).starts_with("shard 7 ends too soon");
    }
    return false;
  };
  EXPECT_TRUE(refused([](ByteReader& r) { r.get_bytes(11); }));
  EXPECT_TRUE(refused([](ByteReader& r) { r.get_bytes(std::numeric_limits<std::size_t>::max()); }));
  EXPECT_TRUE(refused([](ByteReader& r) { r.get_array<std::uint64_t>(2); }));
  // A count whose size in bytes overflows must not become a small read.
  EXPECT_TRUE(refused([](ByteReader& r) { r.get_array<std::uint64_t>(std::size_t{1} << 61); }));
  EXPECT_TRUE(refused([](ByteReader& r) {
    r.get_bytes(9);
    r.get<std::uint16_t>();
  }));
  EXPECT_TRUE(refused([](ByteReader& r) {
    r.get_bytes(9);
    r.align_to(8);
  }));
  EXPECT_FALSE(refused([](ByteReader& r) { r.get_bytes(10); }));
}

TEST(Expected, HoldsAValueOrTheReasonThereIsNone) {
  const auto half = [](int value) -> Expected<int, std::string> {
    if (value % 2 != 0) return std::string("odd");
    return value / 2;
  };
  ASSERT_TRUE(half(8));
  EXPECT_EQ(*half(8), 4);
  ASSERT_FALSE(half(7));
  EXPECT_EQ(half(7).error(), "odd");
}

struct CountingTraits {
  using Raw = int*;
  static Raw null() noexcept { return nullptr; }
  static void close(Raw closed) noexcept { ++*closed; }
};

TEST(UniqueHandle, ClosesOnce) {
  using Handle = UniqueHandle<CountingTraits>;
  static_assert(!std::is_copy_constructible_v<Handle>);
  int first = 0;
  int second = 0;
  {
    Handle a(&first);
    Handle b(std::move(a));
    EXPECT_FALSE(a);  // NOLINT: what a moved-from handle is, is the question
    EXPECT_TRUE(b);
    EXPECT_EQ(b.get(), &first);
    b = Handle(&second);
    EXPECT_EQ(first, 1);
  }
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 1);
}

}  // namespace winnow::bytes_test
