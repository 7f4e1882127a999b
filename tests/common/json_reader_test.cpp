#include "common/json_reader.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "common/error.h"
#include "tests/common/growth.h"

namespace winnow::json_reader_test {

std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const FormatError& error) {
    return error.what();
  }
  return "none";
}

std::string refusal(const std::string& text) {
  return refusal([&] { JsonReader(text, {"FILE", "make it again"}); });
}

JsonReader read(const std::string& text) { return {text, {"FILE"}}; }

TEST(JsonReader, ReadsWhatIsThere) {
  const JsonReader in =
      read(R"({"n": 18446744073709551615, "i": -3, "x": 0.5, "s": "é", "t": true, "z": null,)"
           R"( "l": [1, 2], "o": {"b": "x", "a": "y"}})");
  EXPECT_EQ(in.at("n").number(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(in.at("i").integer(-3, 0), -3);
  EXPECT_EQ(in.at("x").real(), 0.5);
  EXPECT_EQ(in.at("i").real(), -3);
  EXPECT_EQ(in.at("s").text(), "é");
  EXPECT_TRUE(in.at("t").boolean());
  EXPECT_TRUE(in.at("z").is_null());
  EXPECT_EQ(in.at("l").numbers(), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(in.at("l").numbers(2).size(), 2U);
  EXPECT_EQ(in.at("o").dump(), R"({"b":"x","a":"y"})");
  EXPECT_EQ(in.at("o").members()[1].first, "a");
  EXPECT_EQ(in.at("o").members()[1].second.text(), "y");
  EXPECT_FALSE(in.has("other"));
  EXPECT_FALSE(in.find("other"));
  EXPECT_EQ(in.json().size(), 8U);
}

TEST(JsonReader, AValueOutlivesTheReaderOfItsText) {
  const JsonReader value = read(R"({"a": {"b": "text"}})").at("a").at("b");
  EXPECT_EQ(value.text(), "text");
}

TEST(JsonReader, SaysWhereAndWhatIsWrong) {
  const JsonReader in(R"({"l": [{"n": -1}, {"n": 7, "a'\n": []}], "x": "7", "big": 9})",
                      {"FILE", "make it again"});
  const std::vector<JsonReader> items = in.at("l").items();
  const auto says = [&](const std::string& what, const std::function<void()>& act) {
    EXPECT_EQ(refusal(act), "FILE is damaged: " + what + "; make it again");
  };
  says("it lacks 'other'", [&] { in.at("other"); });
  says("'l' 0 lacks 'm'", [&] { items[0].at("m"); });
  says("'l' 0, 'n' is not a whole number from 0 up", [&] { items[0].at("n").number(); });
  says("'l' 1, 'n' is 7, over 6", [&] { items[1].at("n").number(6); });
  says("'l' 1, 'n' is 7, not a whole number from 8 to 9", [&] { items[1].at("n").integer(8, 9); });
  says(R"('l' 1, 'a'\n' is not text)", [&] { items[1].at("a'\n").text(); });
  says("'x' is not a whole number from 0 up", [&] { in.at("x").number(); });
  says("'x' is \"7\", not a whole number from 1 to 9", [&] { in.at("x").integer(1, 9); });
  says("'l' is not a whole number from 1 to 9", [&] { in.at("l").integer(1, 9); });
  says("'x' is not a number", [&] { in.at("x").real(); });
  says("'x' is neither true nor false", [&] { in.at("x").boolean(); });
  says("'x' is not a list", [&] { in.at("x").items(); });
  says("'x' is not an object", [&] { in.at("x").at("y"); });
  says("'x' is not an object", [&] { in.at("x").members(); });
  says("'l' is not a list of 3", [&] { in.at("l").numbers(3); });
  says("'big' is of no use", [&] { in.at("big").fail("is of no use"); });
  says("it is of no use", [&] { in.fail("is of no use"); });
}

TEST(JsonReader, NumbersAreExactAndInRange) {
  const JsonReader in = read(
      R"([9223372036854775808, -9223372036854775808, 18446744073709551615, 2147483648, 1.0, -0.5])");
  const std::vector<JsonReader> n = in.items();
  using Limits = std::numeric_limits<std::int64_t>;
  EXPECT_THROW(n[0].integer(Limits::min(), Limits::max()), FormatError);
  EXPECT_EQ(n[1].integer(Limits::min(), Limits::max()), Limits::min());
  EXPECT_THROW(n[1].number(), FormatError);
  EXPECT_THROW(n[2].integer(-1, Limits::max()), FormatError);
  EXPECT_THROW(n[3].number<int>(), FormatError);
  EXPECT_EQ(n[3].number<std::uint32_t>(), 2'147'483'648U);
  EXPECT_THROW(n[4].number(), FormatError);  // another type
  EXPECT_THROW(n[5].real_from_0(), FormatError);
}

TEST(JsonReader, RefusesWhatIsNoJson) {
  for (const char* text :
       {"", "{", "{} {}", "[1,]", "nul", "\"\xff\"", "1e999", "{\"a\" 1}", "//"}) {
    EXPECT_EQ(refusal(std::string(text)), "FILE is damaged: it is not JSON; make it again") << text;
  }
  EXPECT_EQ(refusal(std::string(" {} ")), "none");
}

TEST(JsonReader, RefusesNamesTwice) {
  EXPECT_EQ(refusal(std::string(R"({"b": 1, "a": 2, "b": 3})")),
            R"(FILE is damaged: it has "b" twice; make it again)");
  EXPECT_NE(refusal(std::string(R"([{"a": {"c": 1, "c": 1}}])")).find(R"("c" twice)"),
            std::string::npos);
  EXPECT_EQ(refusal(std::string(R"({"a": {"b": 1}, "b": {"a": 1}})")), "none");
}

TEST(JsonReader, RefusesNesting) {
  const auto deep = [](int levels) {
    return std::string(static_cast<std::size_t>(levels), '[') +
           std::string(static_cast<std::size_t>(levels), ']');
  };
  EXPECT_EQ(refusal(deep(kJsonLevels)), "none");
  EXPECT_NE(refusal(deep(kJsonLevels + 1)).find("nested too deep"), std::string::npos);
  EXPECT_NE(refusal(deep(2'000'000)).find("nested too deep"), std::string::npos);
  EXPECT_NE(refusal(std::string(2'000'000, '[')).find("nested too deep"), std::string::npos);
  std::string objects;
  for (int i = 0; i < 400'000; ++i) objects += R"({"a":)";
  EXPECT_NE(refusal(objects).find("nested too deep"), std::string::npos);
  EXPECT_THROW(JsonReader("[[]]", {"FILE", "", 1}), FormatError);
}

// Searching an object for each of its names would take minutes here.
TEST(JsonReader, TakesTimeThatTheLengthBounds) {
  const auto of_names = [](int count) {
    std::string text = "{";
    for (int i = 0; i < count; ++i) text += "\"name " + std::to_string(i) + "\":1,";
    text.back() = '}';
    EXPECT_EQ(read(text).members().size(), static_cast<std::size_t>(count));
  };
  EXPECT_LT(test::growth(5'000, of_names), test::kGrowthOfLinear);
}

}  // namespace winnow::json_reader_test
