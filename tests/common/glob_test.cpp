#include "common/glob.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace winnow::glob_test {

TEST(Glob, FitsWholePathsPartByPart) {
  struct Case {
    std::string glob;
    std::vector<std::string> fits;
    std::vector<std::string> others;
  };
  const std::vector<Case> cases{
      {"originals/**",
       {"originals/a.jpg", "originals/x/y/a.jpg", "originals/.hidden"},
       {"originals", "a/originals/b.jpg", "originals2/a.jpg"}},
      {"**", {"a", "a/b/c"}, {}},
      {"**/gold/*.jpg", {"gold/a.jpg", "x/gold/a.jpg", "x/y/gold/a.jpg"}, {"gold/x/a.jpg"}},
      {"a/**/b", {"a/b", "a/x/b", "a/x/y/b"}, {"a/x/bb", "ab", "a/x/b/c"}},
      {"**/a/**/b/**", {"a/b/c", "x/a/y/b/z/c", "a/a/b/b/b"}, {"a/b", "b/a/c"}},
      {"*.png", {"a.png", ".png"}, {"x/a.png", "a.png.jpg"}},
      {"x/*", {"x/a", "x/"}, {"x/a/b", "x"}},
      {"x/?[0-9]/[!a]*", {"x/a7/b", "x/77/ba"}, {"x/a7/ab", "x/aa/b", "x/7/b"}},
      {"a**b/c", {"ab/c", "axxb/c"}, {"ax/xb/c"}},
      {"\\*/\\[", {"*/["}, {"a/["}},
      {"", {""}, {"a"}},
      {"a//b", {"a//b"}, {"a/b"}},
  };
  for (const Case& one : cases) {
    for (const std::string& path : one.fits)
      EXPECT_TRUE(glob_fits(one.glob, path)) << one.glob << " " << path;
    for (const std::string& path : one.others)
      EXPECT_FALSE(glob_fits(one.glob, path)) << one.glob << " " << path;
  }
}

// The definition, applied part by part.
bool fits_by_trying(const std::string& glob, const std::string& path) {
  const auto head = [](const std::string& s) { return s.substr(0, s.find('/')); };
  const auto tail = [](const std::string& s) { return s.substr(s.find('/') + 1); };
  const auto is_one = [](const std::string& s) { return s.find('/') == std::string::npos; };
  if (head(glob) == "**") {
    if (is_one(glob)) return true;
    if (fits_by_trying(tail(glob), path)) return true;
    return !is_one(path) && fits_by_trying(glob, tail(path));
  }
  if (head(glob) != "*" && head(glob) != head(path)) return false;
  if (is_one(glob) || is_one(path)) return is_one(glob) && is_one(path);
  return fits_by_trying(tail(glob), tail(path));
}

TEST(Glob, IsWhatTryingAllPartsFinds) {
  const std::array<std::string, 4> words{"a", "b", "*", "**"};
  std::vector<std::string> globs{"a", "b", "*", "**"};
  std::vector<std::string> paths{"a", "b"};
  for (std::size_t i = 0; globs.size() < 4 + 16 + 64 + 256; ++i) {
    for (const std::string& word : words) globs.push_back(globs[i] + "/" + word);
  }
  for (std::size_t i = 0; paths.size() < 2 + 4 + 8 + 16 + 32; ++i) {
    for (const char* word : {"a", "b"}) paths.push_back(paths[i] + "/" + word);
  }
  for (const std::string& glob : globs) {
    for (const std::string& path : paths) {
      ASSERT_EQ(glob_fits(glob, path), fits_by_trying(glob, path)) << glob << " " << path;
    }
  }
}

TEST(Glob, TakesNoLongerForManyStars) {
  std::string glob;
  std::string path;
  for (int i = 0; i < 60; ++i) {
    glob += "**/";
    path += "a/";
  }
  EXPECT_FALSE(glob_fits(glob + "b", path + "a"));
  EXPECT_TRUE(glob_fits(glob + "a", path + "a"));
}

}  // namespace winnow::glob_test
