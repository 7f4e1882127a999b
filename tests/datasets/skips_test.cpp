#include "datasets/skips.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/common/growth.h"

namespace winnow::datasets::skips_test {

using Reason = std::optional<std::string_view>;

// Definition: the reason of the first of the path's folders that has one, otherwise of the path.
Reason of_each_in_turn(std::string_view path, const OpenOptions& options) {
  for (std::size_t end = path.find('/'); end != path.npos; end = path.find('/', end + 1)) {
    if (const Reason reason = skip_reason(path.substr(0, end), options)) return reason;
  }
  return skip_reason(path, options);
}

std::string joined(std::mt19937& random, const std::vector<std::string>& words, std::size_t most,
                   const char* between) {
  std::string text = words[random() % words.size()];
  for (std::size_t more = random() % most; more > 0; --more) {
    text += between + words[random() % words.size()];
  }
  return text;
}

TEST(PassedOverAnywhere, IsWhatIsSaidOfTheFirstFolderOrThePath) {
  std::mt19937 random(7);
  const std::vector<std::string> names{"a", "b", "ab", ".a", "@eaDir", "a.b", "", "[", "*"};
  const std::vector<std::string> pieces{"a", "b", "*", "?", "/", ".", "[ab]", "[!a]", "\\*", "["};
  int found = 0;
  for (int i = 0; i < 50'000; ++i) {
    OpenOptions options{.hidden = random() % 3 != 0, .system = random() % 2 != 0};
    for (std::size_t globs = random() % 3; globs > 0; --globs) {
      options.exclude.push_back(joined(random, pieces, 5, ""));
    }
    const std::string path = joined(random, names, 5, "/");
    const Reason reason = skip_reason_anywhere(path, options);
    found += reason == "excluded" ? 1 : 0;
    ASSERT_EQ(reason, of_each_in_turn(path, options))
        << path << " without " << (options.exclude.empty() ? "" : options.exclude.front());
  }
  EXPECT_GT(found, 5'000);
}

// An archive may contain names of any length.
TEST(PassedOverAnywhere, TakesTimeThatTheNameBounds) {
  for (const char* glob : {"none", "*none", "*a/*b", "a/*/a*/[!a]", "*a*a*a*a*b"}) {
    const OpenOptions options{.exclude = {glob}};
    const auto of_depth = [&](int depth) {
      std::string path;
      for (int i = 0; i < depth; ++i) path += "a/";
      EXPECT_EQ(skip_reason_anywhere(path + "1.jpg", options), std::nullopt);
    };
    EXPECT_LT(test::growth(4'000, of_depth), test::kGrowthOfLinear) << glob;
  }
}

}  // namespace winnow::datasets::skips_test
