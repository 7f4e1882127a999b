#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/sample.h"
#include "train/evaluate/evaluate.h"

namespace winnow::train {

inline constexpr std::size_t kMostMistakes = 60;

// Summary of a run's last evaluation, stored as RUN/evaluation.json: the confusion matrix, the
// mistakes with the largest losses, and which samples were predicted correctly.
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
  // Which evaluation this is.
  struct About {
    std::int64_t step = 0;  // number of training steps done
    double epoch = 0;
    std::string split;         // "val", "test"
    std::string cache;         // absolute path of the cache's folder
    std::string cache_digest;  // digest of the cache's manifest
  };
  About about;
  std::vector<std::string> classes;    // class names in UTF-8, see to_utf8()
  std::vector<Confusion> confusion{};  // non-zero cells, ordered by label, then by prediction
  // Mistakes, largest losses first; at most kMostMistakes, each a different sample.
  std::vector<Mistake> worst{};
  // Correct samples as hex digits, see right_digits(); empty: stored by an earlier version.
  std::string right{};
};

// Encodes which samples were predicted correctly: one bit for each sample, in hexadecimal. Pure.
// In   Spans of equal sizes. A negative label is never correct.
// Out  The first sample is the highest bit of the first digit; the last digit is padded with zeros.
std::string right_digits(std::span<const std::int32_t> labels,
                         std::span<const std::int32_t> predictions);

// Summarises an evaluation. Call it on rank 0.
// ids      Ids of the evaluated samples.
// classes  Class names, of any bytes.
StoredEvaluation stored_evaluation(const Evaluation& evaluation, const std::vector<SampleId>& ids,
                                   const std::vector<std::string>& classes,
                                   StoredEvaluation::About about);

std::string to_text(const StoredEvaluation& evaluation);

// Parses a text made by to_text(), strictly. Throws FormatError, which names `where`.
StoredEvaluation parse_evaluation(const std::string& text, const std::string& where);

}  // namespace winnow::train
