#pragma once

#include <array>
#include <cstdint>

namespace winnow {

// Philox4x32-10, a counter-based random number generator: four random words as a pure function of a
// 64-bit key and a 128-bit counter.
// Own code, because only a dozen lines of Random123 are needed; tests compare them with its
// results.
// Source  Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC'11.
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

// The purpose of a stream of random numbers. Part of the generator's counter, so that streams of
// different purposes never overlap. The values define what a seed means: never renumber.
enum class RandomUse : std::uint32_t {
  kOrder = 1,         // order of the samples in an epoch
  kCrop = 2,          // random crops
  kFlip = 3,          // random flips
  kInitialise = 4,    // initial weights
  kHoldout = 5,       // choice of held-out samples
  kVariant = 6,       // which stored variant (augmented form) of a sample an epoch uses
  kStudy = 7,         // samples for measuring a data set: pairs of images, edits
  kSplit = 8,         // order of equal candidates when splits are made
  kTurn = 9,          // which sample of a duplicate group an epoch uses
  kSampling = 10,     // how often each sample occurs in an epoch
  kHome = 11,         // which samples of a partition an epoch exchanges
  kExchange = 12,     // lanes that receive them
  kLane = 13,         // order of the samples of a shuffle's lane in an epoch
  kResizedCrop = 16,  // crops of random size
  kJitter = 17,       // changes of colour
  kPolicy = 18,       // operations of an augmentation policy (AutoAugment, ...)
  kErase = 19,        // areas of a picture that are erased
  kTranslate = 20,    // shifts of a picture
  kMix = 21,          // which samples of a batch are mixed, and how
  kDropout = 22,      // dropout in a net
  kTest = 100,        // inputs made by tests and benchmarks
};

// A stream of random numbers determined by (seed, epoch, id, use): the same on every rank, thread
// and machine, whatever is drawn elsewhere. It does not repeat: each 2^26 numbers have their own
// key, and the first key is the seed.
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
  // A random number in [0, bound), uniform and unbiased (Lemire 2019). bound >= 1.
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

  // Takes a new key when the counter has no bits left for more blocks. The key is computed with a
  // counter of use 0, which no stream has.
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
