#include "common/health/message.h"

#include <gtest/gtest.h>

#include <limits>

#include "common/checksum.h"
#include "common/rng.h"

namespace winnow::health::message_test {

JobSecret secret_of(std::uint8_t value) {
  JobSecret secret;
  secret.fill(static_cast<std::byte>(value));
  return secret;
}

const Status kStatus{.rank = 3,
                     .stage = Stage::kBackward,
                     .wait = Wait::kOthers,
                     .awaits_data = true,
                     .is_first_step = true,
                     .bucket = 7,
                     .step = 1'000'000'007,
                     .marks = 12,
                     .added_ms = 13,
                     .collectives = 14,
                     .exchanges = 15,
                     .io_kib = 16,
                     .cpu = 1.5F,
                     .delayed = 0.5F,
                     .exit_code = 75,
                     .seconds = {.step = 1, .work = 0.5F, .batch = 0.25F, .exchange = 0.125F}};

// A message that decode() accepts, after `change`.
Bytes sealed(const Bytes& message) {
  Bytes out(message.begin(), message.end() - 8);
  const std::uint64_t sum = xxh3_64(out);
  const auto bytes = std::as_bytes(std::span(&sum, 1));
  out.insert(out.end(), bytes.begin(), bytes.end());
  return out;
}

TEST(Message, KeepsAllOfAStatus) {
  const Bytes message = encode(kStatus, secret_of(9));
  EXPECT_EQ(message.size(), kMessageBytes);
  EXPECT_EQ(as_text(BytesView(message).first(4)), "WNH1");
  EXPECT_EQ(decode(message, secret_of(9), 4), kStatus);
  EXPECT_EQ(decode(encode({}, secret_of(0)), secret_of(0), 1), Status{});
}

TEST(Message, OfAnotherJobIsNone) {
  EXPECT_FALSE(decode(encode(kStatus, secret_of(9)), secret_of(8), 4));
}

TEST(Message, OfARankThatTheJobLacksIsNone) {
  const Bytes message = encode(kStatus, secret_of(9));
  EXPECT_FALSE(decode(message, secret_of(9), 3));
  Status negative = kStatus;
  negative.rank = -1;
  EXPECT_FALSE(decode(encode(negative, secret_of(9)), secret_of(9), 4));
}

TEST(Message, OfAnyOtherLengthIsNone) {
  Bytes message = encode(kStatus, secret_of(9));
  for (std::size_t length = 0; length < message.size(); ++length) {
    EXPECT_FALSE(decode(BytesView(message).first(length), secret_of(9), 4)) << length;
  }
  message.push_back({});
  EXPECT_FALSE(decode(message, secret_of(9), 4));
}

TEST(Message, DamagedAnywhereIsNone) {
  const Bytes sound = encode(kStatus, secret_of(9));
  for (std::size_t bit = 0; bit < sound.size() * 8; ++bit) {
    Bytes message = sound;
    message[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    EXPECT_FALSE(decode(message, secret_of(9), 4)) << bit;
  }
}

// A sender who knows the secret may still send anything.
TEST(Message, ForgedOnesHoldWhatAStatusMayHold) {
  int taken = 0;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    CounterRng rng(1, 0, i, RandomUse::kTest);
    Bytes message = encode(kStatus, secret_of(9));
    const auto changes = 1 + rng.next_u64() % 8;
    for (std::uint64_t k = 0; k < changes; ++k) {
      message[20 + rng.next_u64() % 72] = static_cast<std::byte>(rng.next_u64());
    }
    const auto status = decode(sealed(message), secret_of(9), 4);
    if (!status) continue;
    ++taken;
    EXPECT_TRUE(status->rank >= 0 && status->rank < 4);
    EXPECT_GE(status->step, 0);
    EXPECT_LT(static_cast<int>(status->stage), kStages);
    EXPECT_LT(static_cast<int>(status->wait), kWaits);
    for (const float value : {status->cpu, status->seconds.step, status->seconds.work,
                              status->seconds.batch, status->seconds.exchange}) {
      EXPECT_TRUE(value >= 0 && value < std::numeric_limits<float>::infinity());
    }
    EXPECT_FALSE(in_words(*status).empty());
  }
  EXPECT_GT(taken, 1000);
}

}  // namespace winnow::health::message_test
