#include "train/backend/cudnn/host_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace winnow::train::cudnn::host_copy_test {

TEST(HostCopy, CopiesEveryByteAndNoneBeyond) {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  constexpr auto kUntouched = std::byte{0xee};
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, 4 * kMiB - 1, 5 * kMiB + 3, 9 * kMiB}) {
    std::vector<std::byte> from(bytes + 1);
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * i >> 3);
    std::vector<std::byte> to(bytes + 1, kUntouched);
    copy_on_host(to.data(), from.data(), bytes);
    EXPECT_TRUE(std::equal(to.begin(), to.end() - 1, from.begin())) << bytes;
    EXPECT_EQ(to.back(), kUntouched) << bytes;
  }
}

}  // namespace winnow::train::cudnn::host_copy_test
