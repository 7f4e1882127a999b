#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/sample.h"
#include "train/evaluate/evaluate.h"

namespace winnow::train {

inline constexpr std::size_t kMostMistakes = 60;

// What a run keeps of its last evaluation, RUN/evaluation.json: what was taken for what, and the
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
  // Which evaluation it was.
  struct About {
    std::int64_t step = 0;  // steps done
    double epoch = 0;
    std::string split;         // "val", "test"
    std::string cache;         // its folder, as an absolute path
    std::string cache_digest;  // of its manifest
  };
  About about;
  std::vector<std::string> classes;    // UTF-8, see to_utf8()
  std::vector<Confusion> confusion{};  // those that there are, by label, then by prediction
  std::vector<Mistake> worst{};        // by falling loss, at most kMostMistakes, of as many samples
};

// Of an evaluation as rank 0 has it. `ids`: of its samples; `classes`: any bytes.
StoredEvaluation stored_evaluation(const Evaluation& evaluation, const std::vector<SampleId>& ids,
                                   const std::vector<std::string>& classes,
                                   StoredEvaluation::About about);

std::string to_text(const StoredEvaluation& evaluation);

// Reads what to_text() wrote, strictly. Throws FormatError naming `where`.
StoredEvaluation parse_evaluation(const std::string& text, const std::string& where);

}  // namespace winnow::train
