#include "common/comm/communicator.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "common/error.h"

namespace winnow::comm::communicator_test {

TEST(Pending, WaitsOnceOnDestruction) {
  int waited = 0;
  {
    const Pending pending([&] { ++waited; });
    EXPECT_EQ(waited, 0);
  }
  EXPECT_EQ(waited, 1);
  {
    Pending pending([&] { ++waited; });
    pending.wait();
    pending.wait();
  }
  EXPECT_EQ(waited, 2);
}

TEST(Pending, MovesItsDuty) {
  int first = 0;
  int second = 0;
  {
    Pending a([&] { ++first; });
    Pending b(std::move(a));
    EXPECT_EQ(first, 0);
    a = Pending([&] { ++second; });
    b = std::move(a);  // must finish the first operation before it takes over the second
    EXPECT_EQ(first, 1);
    EXPECT_EQ(second, 0);
  }
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 1);
}

TEST(Pending, WaitThrowsAndDestructionSwallows) {
  Pending pending([] { throw std::runtime_error("no"); });
  EXPECT_THROW(pending.wait(), std::runtime_error);
  EXPECT_NO_THROW(pending.wait());
  EXPECT_NO_THROW({ const Pending dropped([] { throw std::runtime_error("no"); }); });
}

TEST(Single, IsRankZeroOfOne) {
  const auto comm = make_single();
  EXPECT_EQ(comm->rank(), 0);
  EXPECT_EQ(comm->size(), 1);
  EXPECT_EQ(comm->local_rank(), 0);
  EXPECT_EQ(comm->local_size(), 1);
}

TEST(Single, CollectivesKeepTheBuffer) {
  const auto comm = make_single();
  std::vector<float> gradient{1, 2, 3};
  comm->start_all_reduce(gradient, std::span<const Transfer>{}).wait();
  comm->start_all_reduce(gradient, HierarchicalParts{}).wait();
  EXPECT_EQ(gradient, (std::vector<float>{1, 2, 3}));
  std::vector<double> sums{4, 5};
  comm->all_reduce(sums);
  EXPECT_EQ(sums, (std::vector<double>{4, 5}));
  comm->broadcast(std::as_writable_bytes(std::span(sums)), 0);
  EXPECT_EQ(sums, (std::vector<double>{4, 5}));
  EXPECT_THROW(comm->broadcast(std::as_writable_bytes(std::span(sums)), 1), Error);
  comm->barrier();
  EXPECT_EQ(broadcast_text(*comm, "plan"), "plan");
  EXPECT_EQ(broadcast_text(*comm, ""), "");
  EXPECT_EQ(broadcast(*comm, std::int64_t{-7}, 0), -7);
  EXPECT_THROW(broadcast(*comm, 7, 1), Error);
  EXPECT_EQ(all_gather(*comm, std::string("one")), std::vector<std::string>{"one"});
  EXPECT_EQ(all_gather(*comm, std::string()), std::vector<std::string>{""});
  EXPECT_EQ(all_gather(*comm, std::vector<std::uint64_t>{1, 2}),
            (std::vector<std::uint64_t>{1, 2}));
}

TEST(Single, KeepsItsOwnPartOfAnExchange) {
  const auto comm = make_single();
  EXPECT_EQ(comm->placement().node_of, std::vector<int>{0});
  const std::vector<std::uint32_t> out{1, 2, 3, 4};
  std::vector<std::uint32_t> in(4);
  const std::vector<std::size_t> from{4, 16};  // the first element belongs to no part
  const std::vector<std::size_t> into{0, 12};
  comm->start_all_to_all(std::as_bytes(std::span(out)), from, std::as_writable_bytes(std::span(in)),
                         into, {})
      .wait();
  EXPECT_EQ(in, (std::vector<std::uint32_t>{2, 3, 4, 0}));
  comm->all_to_all(std::as_bytes(std::span(out)), into, std::as_writable_bytes(std::span(in)),
                   from);
  EXPECT_EQ(in, (std::vector<std::uint32_t>{2, 1, 2, 3}));
  const std::vector<std::size_t> shorter{0, 8};
  EXPECT_THROW(
      static_cast<void>(comm->start_all_to_all(std::as_bytes(std::span(out)), from,
                                               std::as_writable_bytes(std::span(in)), shorter, {})),
      Error);
  EXPECT_THROW(
      static_cast<void>(comm->start_all_to_all(std::as_bytes(std::span(in)), from,
                                               std::as_writable_bytes(std::span(in)), into, {})),
      Error)
      << "the same buffer";
}

TEST(SingleDeathTest, AbortEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(make_single()->abort(7), testing::ExitedWithCode(7), "");
}

}  // namespace winnow::comm::communicator_test
