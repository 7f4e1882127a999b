#pragma once

#include <array>
#include <cstdint>

namespace winnow {

// Why not Random123: of its headers we need the dozen lines below; tests hold them to its answers.
//
// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC'11): four random
// words that are a pure function of a 64-bit key and a 128-bit counter.
constexpr std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                                  std::array<std::uint32_t, 2> key) noexcept {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {
        static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
        static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

// What a stream of random numbers is for. Part of the counter, so streams never overlap; the values
// fix what a seed means: never renumber.
enum class RandomUse : std::uint32_t {
  kOrder = 1,         // the permutation of an epoch
  kCrop = 2,          // random crops
  kFlip = 3,          // random flips
  kInitialise = 4,    // initial weights
  kHoldout = 5,       // which samples are held out
  kVariant = 6,       // which stored variant of a sample an epoch sees
  kStudy = 7,         // what is drawn to measure a data set: pairs of images, edits
  kSplit = 8,         // who comes first of equals when splits are made
  kTurn = 9,          // which of the samples that take turns an epoch sees
  kSampling = 10,     // how often an epoch has each sample, where that is not once
  kHome = 11,         // which samples of a partition an epoch exchanges
  kExchange = 12,     // which lanes those go to
  kLane = 13,         // the permutation of what a lane has in an epoch
  kResizedCrop = 16,  // crops of random size
  kJitter = 17,       // changes of colour
  kPolicy = 18,       // operations of an augmentation policy
  kErase = 19,        // what is erased of a picture
  kTranslate = 20,    // shifts of a picture
  kMix = 21,          // how the samples of a batch are mixed
  kDropout = 22,      // what a net drops of a sample in a step
  kTest = 100,        // inputs made by tests and benchmarks
};

// A stream of random numbers keyed by (seed, epoch, id, use): the same on every rank, thread and
// machine, whatever was drawn elsewhere. It does not repeat: each 2^26 numbers have a key of their
// own, the first the seed itself.
class CounterRng {
 public:
  constexpr CounterRng(std::uint64_t seed, std::uint32_t epoch, std::uint64_t id,
                       RandomUse use) noexcept
      : seed_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
        key_(seed_),
        counter_{0, static_cast<std::uint32_t>(id), static_cast<std::uint32_t>(id >> 32), epoch},
        use_(static_cast<std::uint32_t>(use)) {}

  constexpr std::uint32_t next_u32() noexcept {
    if (used_ == 4) {
      if ((block_ & kBlockMask) == 0 && block_ != 0) change_key();
      counter_[0] = (use_ << 24) | static_cast<std::uint32_t>(block_++ & kBlockMask);
      words_ = philox4x32(counter_, key_);
      used_ = 0;
    }
    return words_[static_cast<std::size_t>(used_++)];
  }
  constexpr std::uint64_t next_u64() noexcept {
    const std::uint64_t high = next_u32();
    return (high << 32) | next_u32();
  }
  // Uniform in [0, bound), unbiased (Lemire 2019). bound >= 1.
  constexpr std::uint32_t below(std::uint32_t bound) noexcept {
    std::uint64_t product = std::uint64_t{next_u32()} * bound;
    if (static_cast<std::uint32_t>(product) < bound) {
      const std::uint32_t reject = (0U - bound) % bound;
      while (static_cast<std::uint32_t>(product) < reject) {
        product = std::uint64_t{next_u32()} * bound;
      }
    }
    return static_cast<std::uint32_t>(product >> 32);
  }
  // Uniform in [0, 1) with 53 bits.
  constexpr double uniform() noexcept { return static_cast<double>(next_u64() >> 11) * 0x1.0p-53; }

 private:
  static constexpr std::uint64_t kBlockMask = 0xFFFFFF;

  // The counter has no bits left for more blocks. No stream has the use 0 that this counter has.
  constexpr void change_key() noexcept {
    const std::uint64_t number = block_ >> 24;
    const auto words = philox4x32({static_cast<std::uint32_t>(number & kBlockMask),
                                   static_cast<std::uint32_t>(number >> 24), 0, 0},
                                  seed_);
    key_ = {words[0], words[1]};
  }

  std::array<std::uint32_t, 2> seed_;
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_;
  std::uint32_t use_;
  std::uint64_t block_ = 0;
  std::array<std::uint32_t, 4> words_{};
  int used_ = 4;
};

}  // namespace winnow
