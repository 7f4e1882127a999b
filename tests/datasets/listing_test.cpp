#include "datasets/listing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace winnow::datasets::listing_test {

std::string random_name(std::mt19937& random) {
  std::string name;
  const std::size_t length = random() % 40 == 0 ? random() % 600 : random() % 12;
  for (std::size_t i = 0; i < length; ++i) name += "ab/\xff"[random() % 4];
  return name;
}

TEST(NameColumn, HoldsWhatWasPutIn) {
  std::mt19937 random(1);
  for (const bool sorted : {false, true}) {
    for (const std::size_t count : {0, 1, 15, 16, 17, 1000}) {
      std::vector<std::string> names;
      for (std::size_t i = 0; i < count; ++i) names.push_back(random_name(random));
      if (sorted) std::sort(names.begin(), names.end());
      NameColumn column;
      EXPECT_TRUE(column.empty());
      for (const std::string& name : names) column.push_back(name);
      EXPECT_EQ(column.size(), count);
      for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(column[i], names[i]);
      std::vector<std::string> in_order;
      for (const std::string& name : column) in_order.push_back(name);
      EXPECT_EQ(in_order, names);
      const NameColumn copy = column;  // it remembers the position to continue from
      column.push_back("last");
      EXPECT_EQ(column[count], "last");
      EXPECT_EQ(copy.size(), count);
    }
  }
}

TEST(Listing, HoldsWhatWasPutIn) {
  std::mt19937 random(2);
  std::vector<Entry> entries(300);
  for (Entry& entry : entries) {
    entry.name = random_name(random);
    entry.split = static_cast<Split>(random() % kSplitCount);
    for (std::size_t i = random() % 4; i > 0; --i) {
      entry.labels.push_back(static_cast<std::int32_t>(random() % 1000));
    }
    if (random() % 3 == 0) entry.group = random_name(random);
    entry.input_bytes = std::uint64_t{random()} << (random() % 20);
  }
  const Listing listing(entries);
  ASSERT_EQ(listing.size(), entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Entry got = listing[i];
    EXPECT_EQ(got.name, entries[i].name);
    EXPECT_EQ(listing.names()[i], entries[i].name);
    EXPECT_EQ(listing.split(i), entries[i].split);
    EXPECT_EQ(got.labels, entries[i].labels);
    EXPECT_EQ(got.group, entries[i].group);
    EXPECT_EQ(got.input_bytes, entries[i].input_bytes);
  }
  EXPECT_EQ(Listing().size(), 0U);
}

}  // namespace winnow::datasets::listing_test
