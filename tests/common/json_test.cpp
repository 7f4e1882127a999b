#include "common/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "common/error.h"

namespace winnow::json_test {
namespace {

using Library = nlohmann::ordered_json;

TEST(Json, BracesMakeObjectsAndArraysAsTheLibraryDoes) {
  const std::string name = "a.jpg";
  const std::vector<std::string> texts{"x", "y"};
  const std::map<std::string, int> map{{"b", 1}, {"a", 2}};
  const auto both = [&]<typename Value>() {
    Value json{{"name", name},
               {"none", nullptr},
               {"true", true},
               {"float", 0.1F},
               {"sizes", {1, 2, 3}},
               {"pair", {"a", "b"}},
               {"inner", {{"least", -1}, {"most", 18446744073709551615U}}},
               {"texts", texts},
               {"map", map},
               {"set", std::set<int>{3, 1}},
               {"array", std::array<double, 2>{0.5, 2}},
               {"bools", std::vector<bool>{true, false}},
               {"mixed", {"a", 1, nullptr}},
               {"name", "a second one of that name"},
               {"empty", Value::array()},
               {"nothing", Value::object()},
               {"rows", Value::array({{{"x", 1}}, {{"x", 2}}})}};
    json["new"]["deep"] = {{"k", "v"}};
    json["new"]["list"].push_back({{"k", 1}});
    json["new"]["list"].push_back(7);
    json["float"] = 1e-7;
    json.update(Value{{"true", false}, {"last", 1e300}});
    json.erase("pair");
    return json;
  };
  const Json own = both.operator()<Json>();
  const Library library = both.operator()<Library>();
  EXPECT_EQ(own.dump(), library.dump());
  EXPECT_EQ(own.dump(2), library.dump(2));
  EXPECT_EQ(sorted(own).dump(1), nlohmann::json::parse(own.dump()).dump(1));
  EXPECT_EQ((Json{{"a", "b"}}).dump(), R"({"a":"b"})");
  EXPECT_EQ((Json{"a", "b"}).dump(), R"(["a","b"])");
  EXPECT_EQ((Json{{1, 2}, {3, 4}}).dump(), "[[1,2],[3,4]]");
  EXPECT_EQ(Json{}.dump(), "null");
}

class Drawn {
 public:
  explicit Drawn(unsigned seed) : random_(seed) {}

  // The same random value for both libraries.
  std::pair<Json, Library> value(int levels) {
    switch (random_() % (levels == 0 ? 5 : 7)) {
      case 0:
        return {nullptr, nullptr};
      case 1: {
        const bool value = random_() % 2 == 0;
        return {value, value};
      }
      case 2: {
        const auto value = static_cast<std::int64_t>(random_()) >> (random_() % 64);
        return {value, value};
      }
      case 3: {
        const double value = real();
        return {value, value};
      }
      case 4: {
        const std::string value = text();
        return {value, value};
      }
      case 5: {
        std::pair<Json, Library> all{Json::array(), Library::array()};
        for (auto left = random_() % 4; left > 0; --left) {
          auto [own, library] = value(levels - 1);
          all.first.push_back(std::move(own));
          all.second.push_back(std::move(library));
        }
        return all;
      }
      default: {
        std::pair<Json, Library> all{Json::object(), Library::object()};
        for (auto left = random_() % 4; left > 0; --left) {
          const std::string name = text();
          auto [own, library] = value(levels - 1);
          all.first[name] = std::move(own);
          all.second[name] = std::move(library);
        }
        return all;
      }
    }
  }

 private:
  double real() {
    constexpr double kInfinite = std::numeric_limits<double>::infinity();
    switch (random_() % 4) {
      case 0:
        return static_cast<double>(random_() % 1000);
      case 1:
        return std::ldexp(static_cast<double>(random_()),
                          static_cast<int>(random_() % 2000) - 1000);
      case 2:
        return -static_cast<double>(random_() % 100000) / 1000;
      default:
        return std::array{0.0, -0.0, kInfinite, -kInfinite, std::nan("")}[random_() % 5];
    }
  }
  std::string text() {
    static const std::vector<std::string> kPieces{
        "a", "Z~", " ", "\"", "\\", "/", "\n", "\x01", "\x7f", "\u00e9", "\u2028", "\U0001f600"};
    std::string out;
    for (auto left = random_() % 5; left > 0; --left) out += kPieces[random_() % kPieces.size()];
    return out;
  }

  std::mt19937_64 random_;
};

TEST(Json, WhatIsNothingIsNull) {
  const std::vector<std::optional<double>> values{0.5, std::nullopt};
  const Json json{{"number", std::optional<int>(3)},
                  {"none", std::optional<int>()},
                  {"text", std::optional<std::string>("a")},
                  {"truth", std::optional<bool>(false)},
                  {"values", values}};
  EXPECT_EQ(json.dump(),
            R"({"number":3,"none":null,"text":"a","truth":false,"values":[0.5,null]})");
}

TEST(Json, AThousandValuesAreWrittenAsByTheLibraryAndReadAgain) {
  Drawn drawn(1);
  for (int i = 0; i < 1000; ++i) {
    const auto [own, library] = drawn.value(5);
    for (const int indent : {-1, 0, 1, 2}) {
      ASSERT_EQ(own.dump(indent), library.dump(indent));
      ASSERT_EQ(own.dump(indent, true), library.dump(indent, ' ', true));
    }
    const Json read = Json::parse(own.dump());
    ASSERT_EQ(read.dump(), own.dump());
    ASSERT_EQ(read == own, Library::parse(library.dump()) == library) << own.dump();
  }
}

TEST(Json, TextsThatAreNotUtf8AreRefusedOrReplaced) {
  const std::string text = "a\xff\xc3";
  EXPECT_ANY_THROW(Json(text).dump());
  EXPECT_EQ(Json(text).dump(-1, false, Json::Utf8::kReplace),
            Library(text).dump(-1, ' ', false, Library::error_handler_t::replace));
}

TEST(Json, NumbersAreEqualByValue) {
  EXPECT_EQ(Json(1), Json(1U));
  EXPECT_EQ(Json(1), Json(1.0));
  EXPECT_FALSE(Json(-1) == Json(18446744073709551615U));
  EXPECT_FALSE(Json(1) == Json("1"));
  EXPECT_FALSE(Json(0) == Json(false));
  EXPECT_FALSE((Json{{"a", 1}}) == (Json{{"b", 1}}));
}

TEST(Json, WhatIsAskedForOtherKindsThrows) {
  const Json json{{"a", 1}};
  EXPECT_THROW(json.at("b"), std::out_of_range);
  EXPECT_THROW(json["a"].text(), std::bad_variant_access);
  EXPECT_EQ(json["a"].find("b"), nullptr);
  EXPECT_EQ(json.find("b"), nullptr);
  EXPECT_EQ(Json().size(), 0U);
  EXPECT_EQ(Json("text").size(), 1U);
}

std::string why(std::string_view text, int levels = kJsonLevels, bool once = true) {
  try {
    Json::parse(text, levels, once);
  } catch (const FormatError& error) {
    return error.what();
  }
  return "";
}

TEST(Json, SaysWhyATextIsNone) {
  for (const char* text : {"", "{", "[1,]", "{\"a\" 1}", "1 2", "nul", "1e999", "\"\xff\""}) {
    EXPECT_EQ(why(text), "it is not JSON") << text;
    EXPECT_FALSE(Json::parse_if_json(text)) << text;
  }
  EXPECT_EQ(why("[[[1]]]", 2), "its JSON is nested too deep");
  EXPECT_EQ(why("[[1]]", 2), "");
  EXPECT_EQ(why(std::string(1'000'000, '[')), "its JSON is nested too deep");
  EXPECT_EQ(why("17", 0), "");
  EXPECT_EQ(why("{}", 0), "its JSON is nested too deep");
  EXPECT_EQ(why("[{},[],{\"a\":[1]}]", 3), "");
  EXPECT_EQ(why("[{},[],{\"a\":[1]}]", 2), "its JSON is nested too deep");
  EXPECT_EQ(why(R"(["[[[[", "\"[[[[", "\\"])", 1), "");
  EXPECT_EQ(why(R"(["\\",[[]]])", 2), "its JSON is nested too deep");
  EXPECT_EQ(why("]]]]", 0), "it is not JSON");
  EXPECT_EQ(why("\"\\", 0), "it is not JSON");  // cut off after the backslash
  EXPECT_EQ(why(R"({"b": {"a": 1, "a": 2}})"), "it has \"a\" twice");
  EXPECT_EQ(why(R"([{"a": 1}, {"a": 2}])"), "");
}

TEST(Json, TheLastOfEqualNamesCountsUnlessTheyAreRefused) {
  EXPECT_EQ(sorted(Json::parse(R"({"a": 1, "b": 2, "a": 3})")).dump(),
            nlohmann::json::parse(R"({"a": 1, "b": 2, "a": 3})").dump());
}

}  // namespace
}  // namespace winnow::json_test
