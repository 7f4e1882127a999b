#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <random>
#include <string>

#include "common/error.h"
#include "common/file.h"
#include "places.h"

namespace winnow::test {

// A file that is damaged in place, repeatedly. Nobody else may have it open meanwhile.
class Victim {
 public:
  explicit Victim(std::filesystem::path path) : path_(std::move(path)), good_(read_file(path_)) {
    fd_ = Fd(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
    if (!fd_) throw_errno("cannot open " + path_.string());
  }

  const std::filesystem::path& path() const noexcept { return path_; }
  const Bytes& good() const noexcept { return good_; }

  void write(std::size_t at, BytesView bytes) {
    if (::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(at)) !=
        static_cast<ssize_t>(bytes.size())) {
      throw_errno("cannot damage " + path_.string());
    }
  }
  void resize(std::size_t size) {
    if (::ftruncate(fd_.get(), static_cast<off_t>(size)) != 0) {
      throw_errno("cannot cut " + path_.string());
    }
  }
  void flip(std::size_t at, std::byte mask) {
    const std::byte changed = good_[at] ^ mask;
    write(at, {&changed, 1});
  }
  void restore() {
    resize(good_.size());
    write(0, good_);
  }
  void restore(std::size_t at) { write(at, {&good_[at], 1}); }

 private:
  std::filesystem::path path_;
  Bytes good_;
  Fd fd_;
};

// Reads everything that the damage could affect.
// Throws    What the reader throws; std::logic_error if the contents are not what was written.
using Read = std::function<void()>;

enum class Must { kRefuse, kRefuseOrSame };

// Judges one kind of damage after another. A refusal must be an Error of ours with one sentence
// that names the file.
class Judge {
 public:
  Judge(const Victim& victim, Read read) : Judge(victim.path().filename(), std::move(read)) {}
  Judge(std::string name, Read read) : name_(std::move(name)), read_(std::move(read)) {}

  // `how` returns a description of the damage, for the report.
  template <class How>
  void judge(Must must, How how) {
    if (failures_ >= 10) return;  // enough to look at
    const std::string wrong = verdict(must);
    if (wrong.empty()) return;
    ++failures_;
    ADD_FAILURE() << name_ << ", " << how() << ": " << wrong;
  }

  int refused() const noexcept { return refused_; }
  int same() const noexcept { return same_; }

 private:
  std::string verdict(Must must) {
    try {
      read_();
    } catch (const Error& error) {
      ++refused_;
      return fault_of(error.what());
    } catch (const std::exception& error) {
      return std::string("not refused by an error of ours: ") + error.what();
    }
    ++same_;
    return must == Must::kRefuse ? "accepted" : "";
  }

  std::string fault_of(const std::string& sentence) const {
    if (sentence.find(name_) == std::string::npos) return "does not name the file: " + sentence;
    const bool one = sentence.find('\n') == std::string::npos &&
                     sentence.find(". ") == std::string::npos && !sentence.ends_with('.');
    if (!one) return "is not one sentence: " + sentence;
    const bool printable = std::all_of(sentence.begin(), sentence.end(), [](char c) {
      return static_cast<unsigned char>(c) >= 0x20 && c != 0x7F;
    });
    return printable ? "" : "prints control characters of the file: " + sentence;
  }

  std::string name_;
  Read read_;
  int refused_ = 0;
  int same_ = 0;
  int failures_ = 0;
};

// Which bytes must be refused if changed. Others may be read as if nothing had happened.
using MustAt = std::function<Must(std::size_t)>;
inline Must always(std::size_t) { return Must::kRefuse; }

// kEach: each of the eight bits, and all at once. kTwo: a random one, and all at once. kOne: one of
// these two in turn.
enum class Bits { kEach, kTwo, kOne };

// Changes every byte, or every `step`-th; `step` must be odd.
inline void flip_every_byte(Victim& victim, Judge& judge, Bits bits, const MustAt& must = always,
                            std::size_t step = 1) {
  std::mt19937_64 random(1);
  for (std::size_t at = 0; at < victim.good().size(); at += step) {
    std::vector<std::byte> masks;
    if (bits != Bits::kOne || at % 2 == 0) masks.push_back(std::byte{0xFF});
    for (unsigned bit = 0; bits == Bits::kEach && bit < 8; ++bit) {
      masks.push_back(std::byte(1u << bit));
    }
    if (bits == Bits::kTwo || masks.empty()) masks.push_back(std::byte(1u << random() % 8));
    for (const std::byte mask : masks) {
      victim.flip(at, mask);
      judge.judge(must(at), [&] {
        return "byte " + std::to_string(at) + " changed by " + std::to_string(int(mask));
      });
    }
    victim.restore(at);
  }
}

// Cuts the file to every length; with `step`, to every `step`-th and to whole numbers of pages,
// give or take a byte.
inline void cut_to_every_length(Victim& victim, Judge& judge, std::size_t step = 1) {
  for (std::size_t size = victim.good().size(); size-- > 0;) {
    if (size % step != 0 && (size + 1) % 4096 > 2) continue;
    victim.resize(size);
    judge.judge(Must::kRefuse, [&] { return "cut to " + std::to_string(size) + " bytes"; });
  }
  victim.restore();
}

inline void grow(Victim& victim, Judge& judge) {
  const std::size_t size = victim.good().size();
  for (const std::size_t more : {1, 2, 7, 8, 100, 4096, 100'000}) {
    victim.resize(size + more);  // zeros
    judge.judge(Must::kRefuse, [&] { return std::to_string(more) + " zeros behind"; });
    victim.write(size, Bytes(more, std::byte{'\n'}));
    judge.judge(Must::kRefuse, [&] { return std::to_string(more) + " newlines behind"; });
    victim.resize(size);
  }
}

// Writes one to four runs of noise, zeros or other parts of the same file at random places.
inline void scatter(Victim& victim, Judge& judge, int times, std::size_t longest,
                    Must must = Must::kRefuseOrSame) {
  std::mt19937_64 random(2);
  const std::size_t size = victim.good().size();
  for (int i = 0; i < times; ++i) {
    std::vector<std::pair<std::size_t, std::size_t>> places;
    for (std::uint64_t run = 0, runs = 1 + random() % 4; run < runs; ++run) {
      const std::size_t bytes = 1 + random() % std::min(longest, size);
      const std::size_t at = random() % (size - bytes + 1);
      Bytes put(bytes);
      const auto kind = random() % 3;
      const std::size_t from = random() % (size - bytes + 1);
      for (std::size_t k = 0; k < bytes; ++k) {
        if (kind == 0) put[k] = static_cast<std::byte>(random());
        if (kind == 1) put[k] = victim.good()[from + k];
      }
      victim.write(at, put);
      places.emplace_back(at, bytes);
    }
    judge.judge(must, [&] { return "scattered damage " + std::to_string(i); });
    for (const auto& [at, bytes] : places) {
      victim.write(at, BytesView(victim.good()).subspan(at, bytes));
    }
  }
}

// A copy of the golden cache or run `name`, which may be damaged.
inline void copy_golden(const std::string& name, const std::filesystem::path& to) {
  std::filesystem::copy(
      std::filesystem::path(WINNOW_GOLDEN) / name, to,
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks);
}

}  // namespace winnow::test
