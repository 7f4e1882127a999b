#include "common/small_float.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace winnow::small_float_test {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// A value between two neighbours is rounded to the nearer one, the middle to the even one. Both
// formats are ordered like their bits, and float represents the middles exactly.
template <class Small>
void expect_nearest_even(std::uint16_t infinity) {
  for (std::uint16_t bits = 0; bits < infinity; ++bits) {
    const Small low{bits};
    const Small high{static_cast<std::uint16_t>(bits + 1)};
    const float a = to_float(low);
    // The next value if the format had more exponents.
    const float b = high.bits == infinity
                        ? a + (a - to_float(Small{static_cast<std::uint16_t>(bits - 1)}))
                        : to_float(high);
    ASSERT_EQ(round_to<Small>(a), low) << bits;
    const double middle = (double{a} + double{b}) / 2;
    if (std::isinf(b)) continue;  // f32 ends there too
    const auto at = static_cast<float>(middle);
    ASSERT_EQ(double{at}, middle);
    ASSERT_EQ(round_to<Small>(at), bits % 2 == 0 ? low : high) << bits;
    ASSERT_EQ(round_to<Small>(std::nextafter(at, 0.0F)), low) << bits;
    ASSERT_EQ(round_to<Small>(std::nextafter(at, kInfinity)), high) << bits;
    const Small minus{static_cast<std::uint16_t>(bits | 0x8000U)};
    ASSERT_EQ(round_to<Small>(-a), minus);
    ASSERT_EQ(std::signbit(to_float(minus)), true);
  }
}

TEST(SmallFloat, F16RoundsToNearestEven) { expect_nearest_even<F16>(0x7c00); }
TEST(SmallFloat, BF16RoundsToNearestEven) { expect_nearest_even<BF16>(0x7f80); }

TEST(SmallFloat, ValuesAreThoseOfTheFormats) {
  EXPECT_EQ(to_float(F16{0x3c00}), 1.0F);
  EXPECT_EQ(to_float(F16{0x3555}), 0x1.554p-2F);
  EXPECT_EQ(to_float(F16{0x7bff}), 65504.0F);
  EXPECT_EQ(to_float(F16{0x0001}), 0x1p-24F);
  EXPECT_EQ(to_float(F16{0x0400}), 0x1p-14F);
  EXPECT_EQ(to_float(BF16{0x3f80}), 1.0F);
  EXPECT_EQ(to_float(BF16{0x4049}), 3.140625F);
}

TEST(SmallFloat, NanAndInfinitiesStay) {
  for (const float sign : {1.0F, -1.0F}) {
    EXPECT_EQ(to_float(to_f16(sign * kInfinity)), sign * kInfinity);
    EXPECT_EQ(to_float(to_bf16(sign * kInfinity)), sign * kInfinity);
    EXPECT_EQ(to_float(to_f16(sign * 65520.0F)), sign * kInfinity);
    EXPECT_EQ(to_float(to_f16(sign * 65519.9F)), sign * 65504.0F);
    EXPECT_EQ(to_float(to_f16(sign * 1e30F)), sign * kInfinity);
    EXPECT_EQ(to_float(to_bf16(sign * std::numeric_limits<float>::max())), sign * kInfinity);
  }
  // Also NaNs whose set bits are all cut off.
  for (const std::uint32_t bits : {0x7f800001U, 0x7fc00000U, 0xff800001U, 0x7fffffffU}) {
    EXPECT_TRUE(std::isnan(to_float(to_f16(std::bit_cast<float>(bits))))) << bits;
    EXPECT_TRUE(std::isnan(to_float(to_bf16(std::bit_cast<float>(bits))))) << bits;
  }
  for (std::uint16_t bits = 0x7c01; bits < 0x8000; ++bits) {
    EXPECT_TRUE(std::isnan(to_float(F16{bits})));
  }
}

}  // namespace winnow::small_float_test
