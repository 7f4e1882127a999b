#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/sample.h"
#include "train/evaluate/evaluate.h"

namespace winnow::train {

inline constexpr std::size_t kMostMistakes = 60;

// A run's summary of its last evaluation, RUN/evaluation.json: the confusion matrix, the mistakes
// to look at first, and which samples are right.
struct StoredEvaluation {
  struct Confusion {
    std::int32_t label = 0;
    std::int32_t prediction = 0;
    std::uint64_t samples = 0;
  };
  struct Mistake {
    SampleId id = 0;
    std::int32_t label = 0;
    std::int32_t prediction = 0;
    double loss = 0;
  };
  // Identifies the evaluation.
  struct About {
    std::int64_t step = 0;  // number of steps done
    double epoch = 0;
    std::string split;         // "val", "test"
    std::string cache;         // absolute path of its folder
    std::string cache_digest;  // digest of its manifest
  };
  About about;
  std::vector<std::string> classes;    // UTF-8, see to_utf8()
  std::vector<Confusion> confusion{};  // non-zero cells, by label, then by prediction
  std::vector<Mistake> worst{};  // by descending loss; at most kMostMistakes, each another sample
  std::string right{};           // see right_digits(); empty: stored by an earlier version
};

// One bit for each sample, in hexadecimal: 1 if its label, 0 or more, was predicted. The first
// sample is the highest bit of the first digit; the last digit is padded with zeros. Both spans
// have equal sizes. Pure.
std::string right_digits(std::span<const std::int32_t> labels,
                         std::span<const std::int32_t> predictions);

// Summarises an evaluation on rank 0. `ids`: of its samples; `classes`: any bytes.
StoredEvaluation stored_evaluation(const Evaluation& evaluation, const std::vector<SampleId>& ids,
                                   const std::vector<std::string>& classes,
                                   StoredEvaluation::About about);

std::string to_text(const StoredEvaluation& evaluation);

// Parses the result of to_text() strictly. Throws FormatError naming `where`.
StoredEvaluation parse_evaluation(const std::string& text, const std::string& where);

}  // namespace winnow::train
