#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dedup/cluster/cluster.h"
#include "dedup/deduplicate.h"
#include "dedup/fingerprints.h"
#include "dedup/selection.h"

namespace winnow::dedup {

struct SplitOptions {
  std::string hash = "phash";  // what makes duplicates, as dedup::Options has it
  int threshold = 4;
  ChosenBy chosen_by = {};
  // What train, val and test get of the samples dealt out, their sum 1; nothing for Split::kNone.
  std::array<double, kSplitCount> shares{0, 0.8, 0.1, 0.1};
  // The samples of these splits are dealt out; others are fixed where they are.
  std::array<bool, kSplitCount> of{true, true, true, true};
  struct Dealing {
    bool group_keys = true;  // samples of one group key stay together too
    bool stay = false;       // leave samples where they are, as far as shares and blocks allow
    std::uint64_t seed = 0;
  };
  Dealing dealing = {};
  // By people, as dedup::Options has it; what they said stands for a group says nothing here.
  // Rows that are apart may be in one block all the same, by a group key. What they dropped is
  // dealt out to no split, and makes no block a home.
  std::shared_ptr<const Decided> decided = {};
  Matching matching = {};  // as dedup::Options has it
};

// Where each row of a table goes.
struct Splitting {
  std::vector<Split> splits;             // in which it is used; its own where it is left out
  std::vector<std::uint32_t> kept_rows;  // itself, or the fixed row for which it is left out
  // kKept; kLeak: left out; kReview: dropped; kMoved: followed a fixed row out of its split
  std::vector<Rule> rules;
};

// Components with all rows of one group key as well; "" is no key. Keys of all sources are of one
// kind.
Components unite_keys(const Components& components, const Ragged<char>& keys);

// Stratified splits that cut no block, with each class as near to its shares as blocks allow (see
// assign_stratified). Samples without labels are a class of their own, and one of several labels
// counts in each. Pure: depends on table (ids, splits, labels), blocks and options alone.
//
// A block with a fixed row in train, val or test is at home in the last of these that it has one
// in. Its other fixed rows in them were leaks already, and are left out. Its rows that are dealt
// out follow it home, if home is a split that gets a share; else they are left out too, so that a
// fixed test set neither grows nor leaks. Left out is for the first fixed row at home. What is
// left out is no part of the shares.
//
// UsageError for shares that are negative or do not come to 1.
Splitting split_rows(const Fingerprints& table, const Components& blocks,
                     const SplitOptions& options);

// Why a class is off its share by more than one sample. Of several reasons the first.
enum class OffReason {
  kFixed,   // samples of it had to follow fixed ones
  kBlock,   // samples of it stay together
  kLabels,  // samples of it carry other labels too
};

struct ClassOff {
  std::optional<std::int32_t> label;  // nothing: without labels
  std::uint64_t samples = 0;          // of it, dealt out
  std::uint64_t largest_block = 0;    // most of them that stay together
  Split split = Split::kTrain;        // where it is furthest off
  double wanted = 0;                  // samples of it there
  std::uint64_t got = 0;
  OffReason reason = OffReason::kBlock;

  double distance() const noexcept;
};

struct SplitSummary {
  struct Part {
    std::uint64_t samples = 0;  // used in it
    std::uint64_t dealt = 0;    // of them, dealt out to it
    std::uint64_t blocks = 0;   // of samples used in it
    std::uint64_t classes = 0;  // with a sample in it
  };
  std::array<Part, kSplitCount> parts;
  std::uint64_t blocks = 0;
  std::uint64_t largest_block = 0;
  std::uint64_t moved = 0;     // samples of train, val or test used in another of them
  std::uint64_t left_out = 0;  // samples to be dealt out that a fixed one has for a duplicate
  std::uint64_t leaks = 0;     // fixed samples left out
  double furthest = 0;         // greatest distance of a class from its share, in samples
  std::vector<ClassOff> off;   // classes off by more than one, furthest first
};
SplitSummary summarise(const Fingerprints& table, const Components& blocks,
                       const SplitOptions& options, const Splitting& splitting);

struct SplitResult {
  Selection selection;  // its groups are the blocks; name and cache_digest the caller's to fill in
  SplitSummary summary;
};

// The whole way from a table. Rows left out or dropped have weight 0. Throws as deduplicate and
// split_rows do, and UsageError when there is nothing to deal out, or a split would be empty that
// has a share of one sample at least, or for which there are too few blocks.
SplitResult make_splits(const ColumnSource& columns, const SplitOptions& options,
                        const LinkSource& links = {});

}  // namespace winnow::dedup
