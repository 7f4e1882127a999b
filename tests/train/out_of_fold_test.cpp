#include "train/run/evaluations/out_of_fold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "common/checksum.h"
#include "common/error.h"
#include "common/file.h"
#include "common/npy.h"
#include "places.h"
#include "tests/common/temporary_folder.h"

namespace winnow::train::out_of_fold_test {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::HasSubstr;

constexpr const char* kFiles[] = {"out-of-fold.npy", "out-of-fold.csv", "out-of-fold.json"};

fs::path golden() { return fs::path(WINNOW_GOLDEN) / "v1" / "folds"; }

// Without a sync, because there are hundreds of writes.
void write_text(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// The contents of the golden files by a formula: eight samples of three classes and two folds.
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
  const TemporaryFolder temporary;
  const fs::path run = temporary.path();
  write_out_of_fold(run, formula(), words());
  for (const char* file : kFiles) {
    EXPECT_EQ(read_text(run / file), read_text(golden() / file)) << file;
  }
  write_out_of_fold(run, formula(), words());  // replaces the file
  expect_formula(read_out_of_fold(run));
  EXPECT_EQ(formula().prediction(0), 2);
  EXPECT_EQ(formula().prediction(1), 1);
}

TEST(OutOfFold, RefusesWhatIsDamaged) {
  const TemporaryFolder temporary;
  const fs::path run = temporary.path();
  EXPECT_THROW(read_out_of_fold(run), UsageError);
  for (const std::string file : kFiles) {
    write_out_of_fold(run, formula(), words());
    const std::string whole = read_text(run / file);
    for (std::size_t at = 0; at < whole.size(); ++at) {
      std::string text = whole;
      text[at] = static_cast<char>(text[at] ^ 1);
      write_text(run / file, text);
      try {  // a changed name of a class or selection is still valid
        const OutOfFold read = read_out_of_fold(run);
        EXPECT_EQ(file, "out-of-fold.json") << at;
        EXPECT_EQ(read.probabilities, formula().probabilities);
      } catch (const FormatError& error) {
        EXPECT_THAT(error.what(), HasSubstr("out-of-fold.")) << at;
      }
    }
    for (std::size_t size = 0; size < whole.size(); ++size) {
      write_text(run / file, whole.substr(0, size));
      // Only the final "\n" is missing
      if (size + 1 == whole.size() && file == "out-of-fold.json") continue;
      EXPECT_THROW(read_out_of_fold(run), FormatError) << file << " cut to " << size;
    }
  }
}

std::string refusal(const fs::path& run) {
  try {
    read_out_of_fold(run);
  } catch (const FormatError& error) {
    return error.what();
  }
  return "taken";
}

TEST(OutOfFold, SaysWhatToDoWhereAFileIsMissing) {
  const TemporaryFolder temporary;
  const fs::path run = temporary.path();
  for (const char* file : {"out-of-fold.npy", "out-of-fold.csv"}) {
    write_out_of_fold(run, formula(), words());
    fs::remove(run / file);
    EXPECT_THAT(refusal(run), AllOf(HasSubstr(file), HasSubstr("is missing; train again")));
  }
}

// The digests are right.
TEST(OutOfFold, RefusesRowsThatNoNetSays) {
  const TemporaryFolder temporary;
  const fs::path run = temporary.path();
  const auto refuses = [&](std::size_t at, float value, bool sigmoid, const std::string& why) {
    OutOfFold forged = formula();
    forged.about.sigmoid = sigmoid;
    forged.probabilities[at] = value;
    write_out_of_fold(run, forged, words());
    EXPECT_THAT(refusal(run), HasSubstr(why));
  };
  const std::string row = (run / "out-of-fold.npy").string() + ": row 2, of image 7, ";
  for (const bool sigmoid : {false, true}) {
    for (const float bad : {-0.25F, 1.5F, std::nanf(""), HUGE_VALF}) {
      refuses(7, bad, sigmoid, row + "has a number that is not a probability; train again");
    }
  }
  refuses(7, 0.9F, false, row + "does not add up to 1; train again");
  refuses(7, 0, false, row + "does not add up to 1; train again");
  refuses(7, 0.9F, true, "taken");
  refuses(7, formula().probabilities[7] + 1e-5F, false, "taken");
}

TEST(OutOfFold, SaysWhetherRowsAreOfSigmoids) {
  const TemporaryFolder temporary;
  const fs::path run = temporary.path();
  OutOfFold predicted = formula();
  predicted.about.sigmoid = true;
  write_out_of_fold(run, predicted, words());
  EXPECT_TRUE(read_out_of_fold(run).about.sigmoid);
  EXPECT_FALSE(read_out_of_fold(golden()).about.sigmoid);
}

// One of the files is another one, with the right digest.
TEST(OutOfFold, RefusesFilesThatDoNotFit) {
  const TemporaryFolder temporary;
  const fs::path run = temporary.path();
  const auto forge = [&](const std::string& ending, const std::string& text) {
    write_out_of_fold(run, formula(), words());
    const fs::path json = run / "out-of-fold.json";
    std::string said = read_text(json);
    const std::string was = to_hex(xxh3_128(InputFile(run / ("out-of-fold." + ending))));
    said.replace(said.find(was), was.size(), to_hex(xxh3_128(as_bytes(text))));
    write_text(json, said);
    write_text(run / ("out-of-fold." + ending), text);
    return refusal(run);
  };
  const std::string header = "id,name,label,prediction,fold\n";
  const auto again = HasSubstr("; train again: winnow train CACHE --folds");
  EXPECT_THAT(forge("csv", header + "3,\"a,b,c,1\n"), AllOf(HasSubstr("quote"), again));
  EXPECT_THAT(forge("csv", header + "3,a,b,1\n"), AllOf(HasSubstr("five fields"), again));
  EXPECT_THAT(forge("csv", header + "3x,a,b,c,1\n"), AllOf(HasSubstr("is not a number"), again));
  EXPECT_THAT(forge("csv", header + "3,a,b,c,3\n"),
              AllOf(HasSubstr("a fold does not exist"), again));
  EXPECT_THAT(forge("csv", header + "3,a,b,c,1\n"), AllOf(HasSubstr("'samples'"), again));
  EXPECT_THAT(forge("npy", npy_header(2, 3) + std::string(24, '\0')),
              AllOf(HasSubstr("not a matrix of 8 by 3"), again));
  EXPECT_THAT(forge("npy", npy_header(8, 3)),
              AllOf(HasSubstr("fewer or more bytes than its shape needs"), again));
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

}  // namespace winnow::train::out_of_fold_test
