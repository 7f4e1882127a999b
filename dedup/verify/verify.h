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

// What was looked at.
struct VerifyCounts {
  std::uint64_t pictures = 0;
  std::uint64_t landmarks = 0;
  int radius = 0;                // bits between landmarks
  std::uint64_t candidates = 0;  // pairs of pictures with near landmarks, or near codes
  std::uint64_t registered = 0;  // of these, pairs that were laid upon each other
  std::uint64_t verified = 0;
};

struct Verification {
  std::vector<VerifiedPair> pairs;  // sorted by rows
  // Pairs near by codes that are not in `pairs` for want of details to compare: codes decide.
  std::vector<Edge> undecided;
  VerifyCounts counts;
  // Of pairs that were laid upon each other: those near by codes and with details, and the others.
  ScoreCounts near_scores;
  ScoreCounts far_scores;
};

// The steps of verify() that take long. Others than this process may take a share in them
// (ranks/shared_work.h): each comes to the same.
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
  double hits_a_picture = 12;             // of strangers, at most, that the search may bring
  // Gives landmarks of rows that are known; empty: they are found.
  std::function<LandmarkTable(std::span<const std::uint32_t> rows)> landmarks = {};
  CloserSource closer = {};      // see verify_links
  VerifySteps* steps = nullptr;  // nullptr: this process takes them, as `search` says
  SearchOptions search = {};
};

// Finds all pairs among `rows` that show one picture: whole, cropped, framed, turned, mirrored or
// in part covered.
//
// 1. Landmarks of every picture; pairs of pictures with near ones; and `near`, pairs by their codes
// 2. Pairs whose landmarks do not support each other are passed over
// 3. Each other pair is registered, and its evidence judged by `model`
//
// A pure function of the pictures and options, for any number of threads.
// Errors: StoppedError.
Verification verify(std::span<const std::uint32_t> rows, const PictureSource& pictures,
                    std::span<const Edge> near, const MatchModel& model,
                    const VerifyOptions& options = {});

// Steps 2 and 3, of pairs with these hits of landmarks (sorted) or near by codes (sorted). Of what
// was looked at it counts the pairs. This process counts the supports.
Verification verify_hits(const LandmarkTable& landmarks, std::span<const Hit> hits,
                         const PictureSource& pictures, std::span<const Edge> near,
                         const MatchModel& model, const VerifyOptions& options = {});

}  // namespace winnow::dedup
