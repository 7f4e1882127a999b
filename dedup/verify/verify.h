#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "dedup/verify/candidates.h"
#include "dedup/verify/closer_look.h"
#include "dedup/verify/judge.h"
#include "dedup/verify/look_alikes.h"
#include "dedup/verify/match_model.h"
#include "dedup/verify/supports.h"

namespace winnow::dedup {

// Statistics of a verification.
struct VerifyCounts {
  std::uint64_t pictures = 0;
  std::uint64_t landmarks = 0;
  int radius = 0;                // bits between landmarks
  std::uint64_t candidates = 0;  // number of pairs with similar landmarks or near hash codes
  std::uint64_t registered = 0;  // candidates that were registered
  std::uint64_t verified = 0;
};

struct Verification {
  std::vector<VerifiedPair> pairs;  // sorted by rows
  // Pairs near by hash codes with too little detail to compare; the codes decide.
  std::vector<Edge> undecided;
  VerifyCounts counts;
  // Scores of registered pairs: of those near by hash codes that have details, and of all others.
  ScoreCounts near_scores;
  ScoreCounts far_scores;
};

// The expensive steps of verify(), as an interface: implementations may share them with other
// processes (ranks/shared_search.h), with the same results.
class VerifySteps {
 public:
  virtual ~VerifySteps() = default;
  // LandmarkTable(rows, pictures)
  virtual LandmarkTable landmarks(std::span<const std::uint32_t> rows,
                                  const PictureSource& pictures) = 0;
  // find_hits() and count_supports()
  virtual SupportedHits hits(const LandmarkTable& landmarks, std::span<const std::uint32_t> some,
                             int radius) = 0;
  // judge()
  virtual std::vector<VerifiedPair> judge(std::span<const Trial> trials,
                                          const PictureSource& pictures,
                                          const MatchModel& model) = 0;
};

struct VerifyOptions {
  double least_probability = 0.5;
  std::optional<double> most_false = {};  // see verify_links
  // Sets the search radius: for each picture at most so many hits in different pictures are
  // expected.
  double hits_a_picture = 12;
  // Supplies landmarks of rows that were computed earlier; empty: they are computed.
  std::function<LandmarkTable(std::span<const std::uint32_t> rows)> landmarks = {};
  CloserSource closer = {};      // see verify_links()
  VerifySteps* steps = nullptr;  // nullptr: this process computes all steps with `search`
  SearchOptions search = {};
};

// Finds all pairs among `rows` that show one picture: whole, cropped, framed, turned, mirrored or
// partly covered.
//
// 1. Landmarks (keypoints) of every picture are computed. Candidates are the pairs with similar
//    landmarks, and the pairs of `near`, whose hash codes are near.
// 2. Candidates whose landmarks do not support each other are dropped.
// 3. Each remaining pair is registered (aligned), and its agreement is judged by `model`.
//
// Errors  StoppedError.
// A pure function of the pictures and options, for any number of threads.
Verification verify(std::span<const std::uint32_t> rows, const PictureSource& pictures,
                    std::span<const Edge> near, const MatchModel& model,
                    const VerifyOptions& options = {});

// Steps 2 and 3 of verify() for pairs with these hits (sorted) or near hash codes (`near`, sorted).
// Of the counts, fills in only those of pairs. This process counts the supports, not options.steps.
Verification verify_hits(const LandmarkTable& landmarks, std::span<const Hit> hits,
                         const PictureSource& pictures, std::span<const Edge> near,
                         const MatchModel& model, const VerifyOptions& options = {});

}  // namespace winnow::dedup
