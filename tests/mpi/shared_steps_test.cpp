// All ranks compare pictures together. The result is that of one rank, and all end together.

#include "dedup/ranks/shared_steps.h"

#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <string>
#include <tuple>
#include <vector>

#include "common/comm/agreement.h"
#include "common/error.h"
#include "dedup/ranks/share_out.h"
#include "dedup/ranks/shared_search.h"
#include "tests/dedup/edits.h"
#include "tests/mpi/mpi_test.h"

namespace winnow::dedup::shared_steps_test {

using comm::mpi_world;

// All bits of the results for pairs.
using Said = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, bool, std::vector<double>>;
std::vector<Said> said_of(std::span<const VerifiedPair> pairs) {
  std::vector<Said> said;
  for (const auto& [a, b, probability, map, lacks_details, is_shown] : pairs) {
    EXPECT_FALSE(is_shown);  // no closer look has been taken yet
    said.emplace_back(a, b, std::bit_cast<std::uint32_t>(probability), lacks_details,
                      std::vector{map.xx, map.xy, map.x0, map.yx, map.yy, map.y0});
  }
  return said;
}

// Chains of rows with near codes, whatever they show.
std::vector<Edge> near_rows(std::uint32_t rows) {
  std::vector<Edge> near;
  for (std::uint32_t row = 0; row + 3 < rows; row += 3) near.push_back({row, row + 3, 4});
  return near;
}

class SharedSteps : public testing::Test {
 protected:
  static const Pictures& pictures() {
    static const Pictures made(9);
    return made;
  }
  // Verifies on rank 0 with pictures that no other rank has.
  static Verification shared(const PictureSource& source, VerifyOptions options = {}) {
    Verification found;
    with_shared_work(mpi_world(),
                     [&](const SharedWork& work) {
                       EXPECT_EQ(work.steps == nullptr, mpi_world().size() == 1);
                       options.steps = work.steps;
                       const auto rows = static_cast<std::uint32_t>(pictures().rows.size());
                       found =
                           verify(pictures().rows, source, near_rows(rows), known_model(), options);
                     },
                     {.search = options.search});
    return found;
  }
};

TEST_F(SharedSteps, SayTheSameOnAnyNumberOfRanks) {
  std::atomic<std::uint64_t> read = 0;
  const Verification found = shared([&](std::uint32_t row) {
    ++read;
    return pictures().images[row];
  });
  if (mpi_world().rank() != 0) {
    EXPECT_EQ(read, 0U);
    return;
  }
  const auto rows = static_cast<std::uint32_t>(pictures().rows.size());
  const Verification want =
      verify(pictures().rows, pictures().source(), near_rows(rows), known_model(), {});
  EXPECT_GT(want.pairs.size(), 100U);
  EXPECT_EQ(said_of(found.pairs), said_of(want.pairs));
  EXPECT_EQ(found.undecided, want.undecided);
  EXPECT_EQ(found.counts.landmarks, want.counts.landmarks);
  EXPECT_EQ(found.counts.radius, want.counts.radius);
  EXPECT_EQ(found.counts.candidates, want.counts.candidates);
  EXPECT_EQ(found.counts.registered, want.counts.registered);
}

// More rows than one round assigns. Many of them are flat and have no landmarks.
TEST_F(SharedSteps, DealLandmarksOutInRounds) {
  constexpr std::uint32_t kRows = 8192 + 100;
  const auto source = [](std::uint32_t row) {
    return row % 64 == 1 ? pictures().images[row / 64 % pictures().images.size()]
                         : Image(1 + static_cast<int>(row % 3), 5, 1);
  };
  std::vector<std::uint32_t> rows;
  for (std::uint32_t i = 0; i < kRows; ++i) rows.push_back(2 * i + 1);
  const bool is_root = mpi_world().rank() == 0;
  const LandmarkTable found = share_landmarks(
      mpi_world(),
      is_root ? std::span<const std::uint32_t>(rows) : std::span<const std::uint32_t>(), source,
      {});
  if (!is_root) return;
  std::erase_if(rows, [](std::uint32_t row) { return row % 64 != 1; });
  const LandmarkTable want(rows, source);
  EXPECT_GT(want.size(), 1000U);
  EXPECT_EQ(found.codes().words, want.codes().words);
  EXPECT_TRUE(std::ranges::equal(found.places(), want.places()));
  EXPECT_TRUE(std::ranges::equal(found.owners(), want.owners()));
}

TEST_F(SharedSteps, OfNoPicturesFindNothing) {
  const auto none = [](const SharedWork& work) {
    const PictureSource source = [](std::uint32_t) { return Image(); };
    const Verification found = verify({}, source, {}, known_model(), {.steps = work.steps});
    EXPECT_TRUE(found.pairs.empty());
  };
  with_shared_work(mpi_world(), none);
}

// Expects this error on all ranks if rank 0 throws it.
void expect_error_of_root(const std::function<void()>& work, int exit_code,
                          const std::string& text) {
  try {
    work();
    FAIL() << "nothing was thrown";
  } catch (const comm::PeerError& error) {
    EXPECT_NE(mpi_world().rank(), 0);
    EXPECT_EQ(error.exit_code(), exit_code);
  } catch (const Error& error) {
    EXPECT_EQ(mpi_world().rank(), 0);
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

TEST_F(SharedSteps, FailOnAllRanksWhereAPictureCannotBeRead) {
  for (const std::uint64_t last : {40, 120}) {  // during landmarks, and during pairs
    std::atomic<std::uint64_t> read = 0;
    const PictureSource source = [&](std::uint32_t row) {
      if (++read > last) throw SystemError("thumbnails: no such page");
      return pictures().images[row];
    };
    expect_error_of_root([&] { shared(source); }, 1, "no such page");
  }
  with_shared_work(mpi_world(), [](const SharedWork&) {});  // all ranks are still in step
}

TEST_F(SharedSteps, StopAllRanksWhereOneIsStopped) {
  for (int stopped = 0; stopped < mpi_world().size(); ++stopped) {
    for (const int after : {0, 2, 60}) {
      std::atomic<int> asked = 0;
      VerifyOptions options;
      options.search.stop = [&] { return mpi_world().rank() == stopped && asked++ >= after; };
      try {
        shared(pictures().source(), options);
        FAIL() << "nothing was thrown";
      } catch (...) {
        EXPECT_EQ(comm::exit_code_of_current_exception(), 75);
      }
    }
  }
  with_shared_work(mpi_world(), [](const SharedWork&) {});
}

TEST(ShareOut, DealsOutAndCollectsInOrder) {
  const auto pack = [](int rank) {
    return Bytes(static_cast<std::size_t>(5 * rank), std::byte{7});
  };
  const auto work = [](BytesView share) {
    Bytes answer(share.begin(), share.end());
    answer.push_back(static_cast<std::byte>(mpi_world().rank()));
    return answer;
  };
  const std::vector<Bytes> answers = share_out(mpi_world(), pack, work);
  if (mpi_world().rank() != 0) {
    EXPECT_TRUE(answers.empty());
    return;
  }
  ASSERT_EQ(answers.size(), static_cast<std::size_t>(mpi_world().size()));
  for (int rank = 0; rank < mpi_world().size(); ++rank) {
    const Bytes& answer = answers[static_cast<std::size_t>(rank)];
    const auto sent = static_cast<std::size_t>((5 * rank + 3) / 4 * 4);
    ASSERT_GE(answer.size(), sent + 1);
    EXPECT_EQ(answer[sent], static_cast<std::byte>(rank));
    EXPECT_EQ(answer.front(), rank > 0 ? std::byte{7} : std::byte{0});
  }
}

TEST(ShareOut, SharesEqually) {
  for (const std::size_t count : {0, 1, 7, 100}) {
    for (const int ranks : {1, 3, 8}) {
      std::size_t at = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const ShareRange share = share_of(count, rank, ranks);
        EXPECT_EQ(share.begin, at);
        EXPECT_LE(share.count, count / static_cast<std::size_t>(ranks) + 1);
        at += share.count;
      }
      EXPECT_EQ(at, count);
    }
  }
}

}  // namespace winnow::dedup::shared_steps_test
