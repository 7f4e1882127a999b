#include "train/run/out_of_fold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/file.h"

namespace winnow::train {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::HasSubstr;

constexpr const char* kFiles[] = {"out-of-fold.npy", "out-of-fold.csv", "out-of-fold.json"};

fs::path golden() { return fs::path(WINNOW_GOLDEN) / "v1" / "folds"; }

fs::path fresh(const std::string& name) {
  const fs::path folder = fs::path(::testing::TempDir()) / ("out_of_fold_" + name);
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder;
}

// Without a sync: there are hundreds of them.
void write_text(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// What the golden files hold: eight samples of three classes and two folds, by a formula.
OutOfFold formula() {
  OutOfFold predicted{.about = {.cache_digest = "0123456789abcdef0123456789abcdef",
                                .selection = "near",
                                .folds = 2},
                      .classes = {"cat", "dog, large", "bird"}};
  for (std::uint32_t i = 0; i < 8; ++i) {
    predicted.ids.push_back(3 + 2 * i);
    predicted.fold.push_back(i % 2);
    for (std::uint32_t j = 0; j < 3; ++j) {
      predicted.probabilities.push_back(static_cast<float>((i + j) % 3 + 1) / 6.0F);
    }
  }
  return predicted;
}

SampleWords words() {
  return {[](SampleId id) { return "photos/\xE9 " + std::to_string(id) + ".jpg"; },
          [](std::size_t sample) { return std::string(sample == 2 ? "cat|bird" : "cat"); }};
}

void expect_formula(const OutOfFold& read) {
  const OutOfFold wanted = formula();
  EXPECT_EQ(read.about.cache_digest, wanted.about.cache_digest);
  EXPECT_EQ(read.about.selection, wanted.about.selection);
  EXPECT_EQ(read.about.folds, wanted.about.folds);
  EXPECT_EQ(read.classes, wanted.classes);
  EXPECT_EQ(read.ids, wanted.ids);
  EXPECT_EQ(read.fold, wanted.fold);
  EXPECT_EQ(read.probabilities, wanted.probabilities);
}

TEST(OutOfFold, ReadsTheFirstVersion) { expect_formula(read_out_of_fold(golden())); }

TEST(OutOfFold, WritesTheSameBytes) {
  const fs::path run = fresh("same");
  write_out_of_fold(run, formula(), words());
  for (const char* file : kFiles) {
    EXPECT_EQ(read_text(run / file), read_text(golden() / file)) << file;
  }
  write_out_of_fold(run, formula(), words());  // replaces
  expect_formula(read_out_of_fold(run));
  EXPECT_EQ(formula().prediction(0), 2);
  EXPECT_EQ(formula().prediction(1), 1);
}

TEST(OutOfFold, RefusesWhatIsDamaged) {
  const fs::path run = fresh("damaged");
  EXPECT_THROW(read_out_of_fold(run), UsageError);
  for (const std::string file : kFiles) {
    write_out_of_fold(run, formula(), words());
    const std::string whole = read_text(run / file);
    for (std::size_t at = 0; at < whole.size(); ++at) {
      std::string text = whole;
      text[at] = static_cast<char>(text[at] ^ 1);
      write_text(run / file, text);
      try {  // a changed name of a class, or of the selection, is another one
        const OutOfFold read = read_out_of_fold(run);
        EXPECT_EQ(file, "out-of-fold.json") << at;
        EXPECT_EQ(read.probabilities, formula().probabilities);
      } catch (const FormatError& error) {
        EXPECT_THAT(error.what(), HasSubstr("out-of-fold.")) << at;
      }
    }
    for (std::size_t size = 0; size < whole.size(); ++size) {
      write_text(run / file, whole.substr(0, size));
      if (size + 1 == whole.size() && file == "out-of-fold.json") continue;  // but for its "\n"
      EXPECT_THROW(read_out_of_fold(run), FormatError) << file << " cut to " << size;
    }
  }
  write_out_of_fold(run, formula(), words());
  fs::remove(run / "out-of-fold.npy");
  EXPECT_THROW(read_out_of_fold(run), Error);
}

TEST(OutOfFold, ProbabilitiesAreSoftmaxOrSigmoids) {
  const std::vector<float> logits{0, 1, -2, 1000, 1000, -1000};
  const double sum = 1 + std::exp(1.0) + std::exp(-2.0);
  EXPECT_THAT(probabilities_of(logits, 3, false),
              ElementsAre(FloatEq(static_cast<float>(1 / sum)),
                          FloatEq(static_cast<float>(std::exp(1.0) / sum)),
                          FloatEq(static_cast<float>(std::exp(-2.0) / sum)), 0.5F, 0.5F, 0.0F));
  EXPECT_THAT(probabilities_of(logits, 3, true),
              ElementsAre(0.5F, FloatEq(static_cast<float>(1 / (1 + std::exp(-1.0)))),
                          FloatEq(static_cast<float>(1 / (1 + std::exp(2.0)))), 1.0F, 1.0F, 0.0F));
}

}  // namespace
}  // namespace winnow::train
