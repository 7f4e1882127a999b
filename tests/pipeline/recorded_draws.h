#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "pipeline/augment/draws.h"

namespace winnow::test {

// The numbers that torch drew, in order, as written by recorded_draws.py.
class RecordedDraws final : public pipeline::Draws {
 public:
  explicit RecordedDraws(const std::string& drawn) : in_(drawn) {}

  std::uint32_t below(std::uint32_t bound) override {
    const std::string text = next('b');
    const std::size_t slash = text.find('/');
    EXPECT_EQ(text.substr(std::min(slash + 1, text.size())), std::to_string(bound));
    return static_cast<std::uint32_t>(std::stoul("0" + text.substr(0, slash)));
  }
  float uniform() override { return std::stof("0" + next('u')); }
  bool all_used() {
    std::string rest;
    return !(in_ >> rest);
  }

 private:
  std::string next(char kind) {
    std::string text;
    in_ >> text;
    EXPECT_EQ(text.substr(0, 1), std::string(1, kind));
    return text.empty() ? text : text.substr(1);
  }
  std::istringstream in_;
};

}  // namespace winnow::test
