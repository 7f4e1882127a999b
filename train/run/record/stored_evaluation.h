#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/sample.h"
#include "train/evaluate/evaluate.h"

namespace winnow::train {

inline constexpr std::size_t kMostMistakes = 60;

// The summary of a run's last evaluation, RUN/evaluation.json: the confusion matrix, and the
// mistakes to look at first.
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
};

// Summarises an evaluation on rank 0. `ids`: of its samples; `classes`: any bytes.
StoredEvaluation stored_evaluation(const Evaluation& evaluation, const std::vector<SampleId>& ids,
                                   const std::vector<std::string>& classes,
                                   StoredEvaluation::About about);

std::string to_text(const StoredEvaluation& evaluation);

// Parses the result of to_text() strictly. Throws FormatError naming `where`.
StoredEvaluation parse_evaluation(const std::string& text, const std::string& where);

}  // namespace winnow::train
