// Untrusted safetensors files: every way in which one can lie.

#include "train/checkpoint/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "common/error.h"

namespace winnow::train::safetensors_test {

using testing::ElementsAre;
using testing::HasSubstr;

Bytes file_of(const std::string& header, std::size_t data_bytes) {
  ByteWriter file;
  file.put(static_cast<std::uint64_t>(header.size()));
  file.put_text(header);
  file.put_bytes(Bytes(data_bytes));
  return std::move(file).take();
}

std::string row(const std::string& name, const std::string& shape, const std::string& offsets,
                const std::string& dtype = "F32") {
  return "\"" + name + R"(":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" +
         offsets + "}";
}

std::string refusal(const std::string& header, std::size_t data_bytes) {
  try {
    parse_safetensors(file_of(header, data_bytes), "it");
  } catch (const FormatError& error) {
    return error.what();
  }
  return "taken";
}

TEST(Safetensors, TakesWhatTheFormatAllows) {
  EXPECT_EQ(refusal("{}", 0), "taken");
  EXPECT_EQ(refusal(R"({"__metadata__":{"format":"pt"}})", 0), "taken");
  EXPECT_EQ(refusal("{" + row("a", "[2]", "[0,8]") + "}   ", 8), "taken");
  EXPECT_EQ(refusal("{" + row("a", "[]", "[0,4]") + "}", 4), "taken");
  EXPECT_EQ(refusal("{" + row("b", "[1]", "[0,4]") + "," + row("a", "[0,7]", "[0,0]") + "," +
                        row("c", "[3,0]", "[4,4]") + "}",
                    4),
            "taken");
  EXPECT_EQ(refusal("{" + row("a", "[3]", "[0,3]", "F8_E4M3") + "}", 3), "taken");
}

TEST(Safetensors, RefusesTensorsThatLie) {
  struct Lie {
    const char* shape;
    const char* offsets;
  };
  for (const Lie& lie : {Lie{"[3]", "[0,8]"},
                         Lie{"[2]", "[8,0]"},
                         Lie{"[2]", "[8,16]"},
                         Lie{"[2]", "[4,12]"},
                         Lie{"[-2]", "[0,8]"},
                         Lie{"[2.0]", "[0,8]"},
                         Lie{"[2]", "[0,8.0]"},
                         Lie{"[2]", "[0,1e300]"},
                         Lie{"[1e300]", "[0,8]"},
                         Lie{"[true,2]", "[0,8]"},
                         Lie{"[2]", "[false,8]"},
                         Lie{"[2]", "[0]"},
                         Lie{"[2]", "[0,8,8]"},
                         Lie{"[2]", "8"},
                         Lie{"2", "[0,8]"},
                         Lie{"[[2]]", "[0,8]"},
                         Lie{"[\"2\"]", "[0,8]"},
                         Lie{"null", "[0,8]"},
                         Lie{"[4611686018427387906]", "[0,8]"},
                         Lie{"[18446744073709551618]", "[0,8]"},
                         Lie{"[4294967296,4294967296,2]", "[0,8]"},
                         Lie{"[0,9223372036854775807,9223372036854775807]", "[0,0]"}}) {
    EXPECT_THAT(refusal("{" + row("a", lie.shape, lie.offsets) + "}", 8), HasSubstr("it"))
        << lie.shape << ' ' << lie.offsets;
  }
  EXPECT_THAT(refusal("{" + row("a", "[2]", "[0,8]", "F31") + "}", 8), HasSubstr("unknown type"));
  EXPECT_THAT(refusal("{" + row("a\\u001b[2J", "[2]", "[0,8]") + "}", 8), HasSubstr("control"));
  EXPECT_THAT(refusal(R"({"a":{"dtype":"F32","shape":[2]}})", 8), HasSubstr("it"));
  EXPECT_THAT(refusal(R"({"a":7})", 0), HasSubstr("it"));
  EXPECT_THAT(refusal(R"([])", 0), HasSubstr("it"));
  EXPECT_THAT(refusal("", 0), HasSubstr("it"));
  EXPECT_THAT(refusal("{} {}", 0), HasSubstr("it"));
}

TEST(Safetensors, RefusesOverlapsHolesAndRests) {
  const std::string a = row("a", "[2]", "[0,8]");
  EXPECT_THAT(refusal("{" + a + "," + row("b", "[2]", "[4,12]") + "}", 12), HasSubstr("overlap"));
  EXPECT_THAT(refusal("{" + a + "," + row("b", "[2]", "[0,8]") + "}", 8), HasSubstr("overlap"));
  EXPECT_THAT(refusal("{" + a + "," + row("b", "[1]", "[12,16]") + "}", 16), HasSubstr("holes"));
  EXPECT_THAT(refusal("{" + a + "}", 9), HasSubstr("left over"));
  EXPECT_THAT(refusal("{" + a + "}", 7), HasSubstr("cut short"));
}

TEST(Safetensors, RefusesNamesTwice) {
  const std::string a = row("a", "[2]", "[0,8]");
  EXPECT_THAT(refusal("{" + a + "," + a + "}", 8), HasSubstr("\"a\" twice"));
  EXPECT_THAT(
      refusal("{" + a + "," + row("b", "[2]", "[8,16]") + "," + row("a", "[0]", "[16,16]") + "}",
              16),
      HasSubstr("\"a\" twice"));
  EXPECT_THAT(refusal(R"({"a":{"dtype":"F32","dtype":"I32","shape":[2],"data_offsets":[0,8]}})", 8),
              HasSubstr("\"dtype\" twice"));
  EXPECT_EQ(refusal("{" + a + "," + row("b", "[2]", "[8,16]") + "}", 16), "taken");
}

// Each level would cost a hundred times its byte in the file.
TEST(Safetensors, RefusesNesting) {
  EXPECT_THAT(refusal(std::string(1'000'000, '['), 0), HasSubstr("nested"));
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += R"({"a":)";
  EXPECT_THAT(refusal(deep, 0), HasSubstr("nested"));
}

// Each extent of a shape costs many times the byte or two that it takes in the file.
TEST(Safetensors, RefusesShapesOfManyExtents) {
  const auto ones = [](int count) {
    std::string list = "[1";
    for (int i = 1; i < count; ++i) list += ",1";
    return list + "]";
  };
  EXPECT_EQ(refusal("{" + row("a", ones(32), "[0,4]") + "}", 4), "taken");
  EXPECT_THAT(refusal("{" + row("a", ones(33), "[0,4]") + "}", 4),
              HasSubstr("a has an impossible shape"));
}

TEST(Safetensors, RefusesHeadersThatAreTooLarge) {
  for (const std::uint64_t size : {std::uint64_t{100'000'001}, std::uint64_t{1} << 40,
                                   std::numeric_limits<std::uint64_t>::max()}) {
    ByteWriter file;
    file.put(size);
    file.put_text("{}");
    EXPECT_THROW(parse_safetensors(std::move(file).take(), "it"), FormatError) << size;
  }
}

template <class Stored>
NamedTensor stored(const std::string& dtype, const std::vector<Stored>& values) {
  const BytesView raw = as_bytes(values);
  return {"x", dtype, {static_cast<std::int64_t>(values.size())}, Bytes(raw.begin(), raw.end())};
}

// The definition of binary16 in IEEE 754.
TEST(Safetensors, ConvertsHalves) {
  EXPECT_THAT(f32_values(stored<std::uint16_t>(
                  "F16", {0x0000, 0x3c00, 0xc000, 0x7bff, 0x0400, 0x0001, 0x03ff, 0x3555, 0xfc00})),
              ElementsAre(0, 1, -2, 65504, 0x1p-14F, 0x1p-24F, 1023 * 0x1p-24F, 1365 * 0x1p-12F,
                          -std::numeric_limits<float>::infinity()));
  const auto odd = f32_values(stored<std::uint16_t>("F16", {0x8000, 0x7e00}));
  EXPECT_TRUE(odd[0] == 0 && std::signbit(odd[0]));
  EXPECT_TRUE(std::isnan(odd[1]));
}

TEST(Safetensors, ConvertsBfloatsAndDoubles) {
  EXPECT_THAT(f32_values(stored<std::uint16_t>("BF16", {0x3f80, 0xc049, 0x0001, 0x7f80})),
              ElementsAre(1, -3.140625F, std::bit_cast<float>(0x10000U),
                          std::numeric_limits<float>::infinity()));
  EXPECT_THAT(f32_values(stored<double>("F64", {0.1, -1e300, 1e-60, 3e38})),
              ElementsAre(0.1F, -std::numeric_limits<float>::infinity(), 0, 3e38F));
}

}  // namespace winnow::train::safetensors_test
