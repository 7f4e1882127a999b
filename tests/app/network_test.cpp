#include "app/plan/network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.h"

namespace winnow::app::network_test {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Network, IsARateAndALatency) {
  const comm::NetworkModel network = parse_network("10gbit,20us", 1e-10);
  EXPECT_DOUBLE_EQ(network.between.seconds_per_byte, 8e-10);
  EXPECT_DOUBLE_EQ(network.between.latency_s, 20e-6);
  EXPECT_DOUBLE_EQ(network.add_seconds_per_byte, 1e-10);
  EXPECT_DOUBLE_EQ(parse_network("100mbit,1.5ms", 0).between.latency_s, 1.5e-3);
}

TEST(Network, WhatIsNoneIsRefused) {
  for (const char* text : {"", "10gbit", "10gbit,", ",20us", "10gbit,20", "10,20us", "-1gbit,20us",
                           "0gbit,20us", "10gbit,0us", "10gbit,20us,x", "nangbit,20us"}) {
    EXPECT_THAT([&] { parse_network(text, 0); },
                ThrowsMessage<UsageError>(HasSubstr("10gbit,20us")))
        << text;
  }
}

comm::NetworkModel measured() {
  return {.between = {3e-5, 1e-6, 8e-10, 3e-10},
          .inside = {1e-6, 2e-7, 1e-10},
          .add_seconds_per_byte = 2e-10,
          .cards = 2,
          .longest_message = 524'288};
}

TEST(Network, ItsFileReadsBack) {
  const comm::NetworkModel got = read_network_text(network_text(measured(), 8, 4), "net.json");
  EXPECT_EQ(got.between.latency_s, 3e-5);
  EXPECT_EQ(got.between.message_s, 1e-6);
  EXPECT_EQ(got.between.processor_s_per_byte, 3e-10);
  EXPECT_EQ(got.between.seconds_per_byte, 8e-10);
  EXPECT_EQ(got.inside.seconds_per_byte, 1e-10);
  EXPECT_EQ(got.add_seconds_per_byte, 2e-10);
  EXPECT_EQ(got.cards, 2);
  EXPECT_EQ(got.longest_message, 524'288u);
}

TEST(Network, AFileWithoutProcessorTimesReadsBack) {
  std::string text = network_text(measured(), 8, 4);
  for (std::size_t at = 0;
       (at = text.find(",\n  \"processor_s_per_byte\"")) != std::string::npos;) {
    text.erase(at, text.find_first_of("\n}", at + 2) - at);
  }
  const comm::NetworkModel got = read_network_text(text, "net.json");
  EXPECT_EQ(got.between.seconds_per_byte, 8e-10);
  EXPECT_EQ(got.between.processor_s_per_byte, 0);
}

TEST(Network, AFileThatIsDamagedOrOfAnotherVersionIsRefused) {
  const std::string text = network_text(measured(), 8, 4);
  for (std::size_t length = 0; length + 2 < text.size(); length += 7) {
    EXPECT_THROW(read_network_text(text.substr(0, length), "net.json"), FormatError) << length;
  }
  std::string newer = text;
  newer.replace(newer.find("\"version\": 1"), 12, "\"version\": 2");
  EXPECT_THAT([&] { read_network_text(newer, "net.json"); },
              ThrowsMessage<FormatError>(HasSubstr("version 2")));
  EXPECT_THAT([&] { read_network_text(R"({"format":"winnow-plan","version":1})", "net.json"); },
              ThrowsMessage<FormatError>(HasSubstr("net.json is no network")));
}

}  // namespace winnow::app::network_test
