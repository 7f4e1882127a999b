#include "pipeline/store/shard_format.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>

#include "common/checksum.h"
#include "common/error.h"

namespace winnow::pipeline::shard_format_test {

// Owns the data that a RecordView refers to.
struct Sample {
  SampleId id = 0;
  Split split = Split::kNone;
  Coding coding = Coding::kRaw;
  int height_px = 1;
  int width_px = 1;
  int channels = 1;
  std::vector<std::int32_t> labels;
  std::string group;
  Bytes payload;
  int variants = 1;

  RecordView view() const {
    return {id, split, coding, height_px, width_px, channels, labels, group, payload, variants};
  }
};

std::vector<Sample> make_samples(std::mt19937_64& random, std::size_t count) {
  const auto below = [&random](std::uint64_t n) { return random() % n; };
  std::vector<Sample> samples(count);
  SampleId id = below(5);
  for (Sample& s : samples) {
    s.id = id;
    id += 1 + below(4) * below(1000000);
    s.split = static_cast<Split>(below(kSplitCount));
    s.coding = static_cast<Coding>(below(2));
    s.height_px = static_cast<int>(1 + below(9));
    s.width_px = static_cast<int>(1 + below(9));
    s.channels = below(2) == 0 ? 1 : 3;
    s.labels.resize(below(4));
    for (auto& label : s.labels) label = static_cast<std::int32_t>(random());
    s.group.resize(below(7));
    for (char& c : s.group) c = static_cast<char>(random());
    if (s.coding == Coding::kRaw && below(2) == 0) s.variants = static_cast<int>(2 + below(4));
    s.payload.resize(s.coding == Coding::kRaw ? static_cast<std::size_t>(s.variants * s.height_px *
                                                                         s.width_px * s.channels)
                                              : below(300));
    for (std::byte& b : s.payload) b = static_cast<std::byte>(random());
  }
  return samples;
}

Bytes pack(const std::vector<Sample>& samples) {
  std::vector<RecordView> views;
  for (const Sample& s : samples) views.push_back(s.view());
  return pack_records(views);
}

bool same(const RecordView& got, const Sample& want) {
  return got.id == want.id && got.split == want.split && got.coding == want.coding &&
         got.height_px == want.height_px && got.width_px == want.width_px &&
         got.channels == want.channels && got.group == want.group &&
         got.variants == want.variants &&
         std::vector<std::int32_t>(got.labels.begin(), got.labels.end()) == want.labels &&
         Bytes(got.payload.begin(), got.payload.end()) == want.payload;
}

// The record of one of the sample's variants.
Sample variant_of(const Sample& s, int k) {
  Sample one = s;
  const auto bytes = static_cast<std::ptrdiff_t>(s.payload.size()) / s.variants;
  one.payload.assign(s.payload.begin() + k * bytes, s.payload.begin() + (k + 1) * bytes);
  one.variants = 1;
  return one;
}

TEST(ShardFormat, RoundTrip) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    const auto samples = make_samples(random, 1 + random() % 70);
    const Bytes bytes = pack(samples);
    EXPECT_EQ(bytes.size() % 8, 0u);
    EXPECT_EQ(bytes, pack(samples));
    const auto records = unpack_records(bytes, "pack");
    ASSERT_EQ(records.size(), samples.size());
    for (std::size_t i = 0; i < samples.size(); ++i) {
      EXPECT_TRUE(same(records[i], samples[i]));
      const FoundRecord found = find_record(bytes, samples[i].id, "pack");
      ASSERT_TRUE(found.found);
      EXPECT_TRUE(same(found.record, samples[i]));
      const SampleId other = samples[i].id + 1;
      const bool there = i + 1 < samples.size() && samples[i + 1].id == other;
      EXPECT_EQ(find_record(bytes, other, "pack").found, there);
    }
  }
}

// The bytes that docs/formats/shard.md describes, written by hand.
TEST(ShardFormat, BytesAreTheDocumentedOnes) {
  const Sample s{.id = 0x0102030405060708,
                 .split = Split::kTest,
                 .coding = Coding::kEncoded,
                 .height_px = 2,
                 .width_px = 3,
                 .channels = 3,
                 .labels = {7, -1},
                 .group = "abc",
                 .payload = {std::byte{0xEE}, std::byte{0xFF}}};
  const std::vector<unsigned> want{
      1,    0,    0,   0, 0,    0,    0,    0,     // count
      16,   0,    0,   0, 0,    0,    0,    0,     // offset
      0,    0,    0,   0, 0,    0,    0,    0,     // checksum, below
      1,    0,    1,   3, 2,    0,    3,    0,     // version, coding, split, labels, group
      8,    7,    6,   5, 4,    3,    2,    1,     // id
      2,    0,    0,   0, 3,    0,    0,    0,     // height, width
      3,    0,    0,   0, 2,    0,    0,    0,     // channels, zero, payload bytes
      7,    0,    0,   0, 0xFF, 0xFF, 0xFF, 0xFF,  // labels
      'a',  'b',  'c', 0, 0,    0,    0,    0,     // group, to a multiple of 8
      0xEE, 0xFF, 0,   0, 0,    0,    0,    0};    // payload, to a multiple of 8
  Bytes expected;
  for (const unsigned b : want) expected.push_back(static_cast<std::byte>(b));
  const std::uint64_t checksum = xxh3_64(BytesView(expected).subspan(24, 80 - 24 - 6));
  std::memcpy(expected.data() + 16, &checksum, 8);
  EXPECT_EQ(pack({s}), expected);
}

TEST(ShardFormat, BytesOfVariantsAreTheDocumentedOnes) {
  const Sample s{.id = 5,
                 .split = Split::kTrain,
                 .coding = Coding::kRaw,
                 .height_px = 1,
                 .width_px = 2,
                 .channels = 1,
                 .labels = {3},
                 .group = "",
                 .payload = {std::byte{0xA0}, std::byte{0xA1}, std::byte{0xB0}, std::byte{0xB1},
                             std::byte{0xC0}, std::byte{0xC1}},
                 .variants = 3};
  const std::vector<unsigned> want{
      1,    0,    0,    0,    0,    0,    0, 0,   // count
      16,   0,    0,    0,    0,    0,    0, 0,   // offset
      0,    0,    0,    0,    0,    0,    0, 0,   // checksum, below
      2,    0,    0,    1,    1,    0,    0, 0,   // version, coding, split, labels, group
      5,    0,    0,    0,    0,    0,    0, 0,   // id
      1,    0,    0,    0,    2,    0,    0, 0,   // height, width
      1,    0,    3,    0,    6,    0,    0, 0,   // channels, variants, payload bytes
      3,    0,    0,    0,    0,    0,    0, 0,   // label, to a multiple of 8
      0,    0,    0,    0,    0,    0,    0, 0,   // checksums of the variants, below
      0,    0,    0,    0,    0,    0,    0, 0,   //
      0,    0,    0,    0,    0,    0,    0, 0,   //
      0xA0, 0xA1, 0xB0, 0xB1, 0xC0, 0xC1, 0, 0};  // payload, to a multiple of 8
  Bytes expected;
  for (const unsigned b : want) expected.push_back(static_cast<std::byte>(b));
  for (std::size_t k = 0; k < 3; ++k) {
    const std::uint64_t sum = xxh3_64(BytesView(expected).subspan(88 + 2 * k, 2));
    std::memcpy(expected.data() + 64 + 8 * k, &sum, 8);
  }
  const std::uint64_t checksum = xxh3_64(BytesView(expected).subspan(24, 88 - 24));
  std::memcpy(expected.data() + 16, &checksum, 8);
  EXPECT_EQ(pack({s}), expected);
}

TEST(ShardFormat, WhatIsRememberedAsCheckedIsNotCheckedAgainUnlessItIsSmall) {
  const auto of_side = [](SampleId id, int side_px, int variants) {
    Sample s;
    s.id = id;
    s.coding = Coding::kRaw;
    s.height_px = s.width_px = side_px;
    s.channels = 3;
    s.variants = variants;
    s.payload.resize(static_cast<std::size_t>(variants * side_px * side_px * 3), std::byte{7});
    return s;
  };
  const std::vector<Sample> samples{of_side(1, 20, 1), of_side(2, 2, 1), of_side(3, 20, 3),
                                    of_side(4, 20, 1), of_side(5, 20, 3)};
  Bytes bytes = pack(samples);
  CheckedBytes checked(bytes);
  const auto find = [&](SampleId id, const PickVariant& pick = {}) {
    return find_record(bytes, id, "pack", pick, &checked).record;
  };
  const auto spoil = [&](const RecordView& record) {
    bytes[static_cast<std::size_t>(record.payload.data() - bytes.data())] ^= std::byte{1};
  };
  const PickVariant second = [](int) { return 1; };
  spoil(find(1));
  spoil(find(2));
  spoil(find(3, second));
  EXPECT_EQ(find(1).payload.size(), samples[0].payload.size());
  EXPECT_THROW(find(2), FormatError);  // small payload
  EXPECT_EQ(find(3, second).payload[0], std::byte{6});
  spoil(find_record(bytes, 4, "pack").record);
  spoil(find_record(bytes, 5, "pack", second).record);
  for (int i = 0; i < 2; ++i) {  // a failure is not cached
    EXPECT_THROW(find(4), FormatError);
    EXPECT_THROW(find(5, second), FormatError);
    EXPECT_NO_THROW(find(5, first_variant));
  }
  EXPECT_THROW(find_record(bytes, 1, "pack"), FormatError);
}

TEST(ShardFormat, OneVariantIsReadWithoutTheOthers) {
  std::mt19937_64 random(4);
  int several = 0;
  for (int round = 0; round < 50; ++round) {
    const auto samples = make_samples(random, 10);
    const Bytes good = pack(samples);
    for (const Sample& s : samples) {
      for (int k = 0; k < s.variants; ++k) {
        const PickVariant pick = [&](int variants) {
          EXPECT_EQ(variants, s.variants);
          EXPECT_GT(variants, 1);
          return k;
        };
        const FoundRecord found = find_record(good, s.id, "pack", pick);
        ASSERT_TRUE(found.found);
        EXPECT_TRUE(same(found.record, variant_of(s, k)));
        if (s.variants == 1) continue;
        ++several;
        Bytes bad = good;  // damages only this variant
        bad[static_cast<std::size_t>(found.record.payload.data() - good.data())] ^= std::byte{1};
        EXPECT_THROW(find_record(bad, s.id, "pack", pick), FormatError);
        EXPECT_THROW(find_record(bad, s.id, "pack"), FormatError);
        EXPECT_THROW(unpack_records(bad, "pack"), FormatError);
        const int other = (k + 1) % s.variants;
        const FoundRecord beside = find_record(bad, s.id, "pack", [&](int) { return other; });
        EXPECT_TRUE(same(beside.record, variant_of(s, other)));
      }
      if (s.variants > 1) {
        EXPECT_THROW(find_record(good, s.id, "pack", [](int n) { return n; }), Error);
        EXPECT_THROW(find_record(good, s.id, "pack", [](int) { return -1; }), Error);
      }
    }
  }
  EXPECT_GT(several, 300);
}

TEST(ShardFormat, ARecordAloneIsAPackOfOne) {
  std::mt19937_64 random(8);
  for (int round = 0; round < 50; ++round) {
    const std::vector<Sample> samples = make_samples(random, 4);
    const Bytes together = pack(samples);
    std::vector<std::pair<SampleId, std::size_t>> sizes;
    for_each_packed_size(together, "a pack",
                         [&](SampleId id, std::size_t bytes) { sizes.emplace_back(id, bytes); });
    ASSERT_EQ(sizes.size(), samples.size());
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const Sample& sample = samples[i];
      Bytes alone(packed_bytes(sample.view()), std::byte{0xFF});
      pack_record(sample.view(), alone);
      EXPECT_EQ(alone, pack({sample}));
      // The size reported for a sample is that of one variant.
      const int which = sample.variants - 1;
      const FoundRecord found =
          find_record(together, sample.id, "a pack", [&](int) { return which; });
      EXPECT_EQ(sizes[i], std::pair(sample.id, packed_bytes(found.record)));
    }
    Bytes wrong(packed_bytes(samples[0].view()) + 8);
    EXPECT_THROW(pack_record(samples[0].view(), wrong), Error);
  }
}

TEST(ShardFormat, EveryFlippedBitIsNoticed) {
  std::mt19937_64 random(2);
  const auto samples = make_samples(random, 4);
  const Bytes good = pack(samples);
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      Bytes bad = good;
      bad[at] ^= static_cast<std::byte>(1 << bit);
      EXPECT_THROW(unpack_records(bad, "pack"), FormatError) << "byte " << at << " bit " << bit;
      for (const Sample& s : samples) {  // whatever is found is right
        try {
          const FoundRecord found = find_record(bad, s.id, "pack");
          EXPECT_TRUE(!found.found || same(found.record, s)) << "byte " << at << " bit " << bit;
        } catch (const FormatError&) {
        }
      }
    }
  }
}

TEST(ShardFormat, EveryCutIsNoticed) {
  std::mt19937_64 random(3);
  const auto samples = make_samples(random, 4);
  const Bytes good = pack(samples);
  for (std::size_t size = 0; size < good.size(); ++size) {
    const Bytes bad(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_THROW(unpack_records(bad, "pack"), FormatError) << size;
    for (const Sample& s : samples) {
      try {
        const FoundRecord found = find_record(bad, s.id, "pack");
        EXPECT_TRUE(!found.found || same(found.record, s)) << size;
      } catch (const FormatError&) {
      }
    }
  }
}

// Damage with a valid checksum, as an attacker would write it.
TEST(ShardFormat, FieldsAreCheckedEvenWithARightChecksum) {
  Sample s;
  s.payload = {std::byte{9}};
  const Bytes good = pack({s});
  const auto forge = [&good](std::size_t at, std::uint8_t value) {
    Bytes bad = good;
    bad[16 + at] = static_cast<std::byte>(value);
    const std::uint64_t checksum = xxh3_64(BytesView(bad).subspan(24, 33));
    std::memcpy(bad.data() + 16, &checksum, 8);
    return bad;
  };
  EXPECT_NO_THROW(unpack_records(forge(10, 1), "pack"));               // encoded: any payload
  EXPECT_THROW(unpack_records(forge(8, 0), "pack"), FormatError);      // version 0
  EXPECT_THROW(unpack_records(forge(10, 2), "pack"), FormatError);     // coding
  EXPECT_THROW(unpack_records(forge(11, 4), "pack"), FormatError);     // split
  EXPECT_THROW(unpack_records(forge(24, 0), "pack"), FormatError);     // no height
  EXPECT_THROW(unpack_records(forge(24, 2), "pack"), FormatError);     // pixels do not fit
  EXPECT_THROW(unpack_records(forge(31, 0x80), "pack"), FormatError);  // negative width
  EXPECT_THROW(unpack_records(forge(32, 2), "pack"), FormatError);     // two channels
  EXPECT_THROW(unpack_records(forge(34, 1), "pack"), FormatError);     // zero field
  try {
    unpack_records(forge(8, 3), "pack");
    ADD_FAILURE() << "a newer version was read";
  } catch (const FormatError& error) {
    EXPECT_NE(std::string(error.what()).find("newer winnow (record version 3"), std::string::npos);
  }
}

TEST(ShardFormat, VariantsThatDoNotFitAreRefusedEvenWithRightChecksums) {
  Sample s;
  s.variants = 4;
  s.payload.assign(4, std::byte{9});
  const Bytes good = pack({s});
  const auto forge = [&good](std::size_t at, std::uint16_t value) {
    Bytes bad = good;
    std::memcpy(bad.data() + 16 + at, &value, 2);
    std::uint16_t version = 0;
    std::uint16_t variants = 0;
    std::memcpy(&version, bad.data() + 16 + 8, 2);
    std::memcpy(&variants, bad.data() + 16 + 34, 2);
    const std::size_t payload_at = 40 + (version == 2 ? std::size_t{8} * variants : 0);
    const std::size_t end = version == 2 && variants > 0 ? payload_at : payload_at + 4;
    if (16 + end > bad.size()) return bad;
    const std::uint64_t checksum = xxh3_64(BytesView(bad).subspan(24, end - 8));
    std::memcpy(bad.data() + 16, &checksum, 8);
    return bad;
  };
  EXPECT_NO_THROW(unpack_records(forge(11, 0x0002), "pack"));  // another split
  for (const auto variants : std::array<std::uint16_t, 9>{0, 1, 2, 3, 5, 8, 255, 256, 65535}) {
    const Bytes bad = forge(34, variants);
    EXPECT_THROW(unpack_records(bad, "pack"), FormatError) << variants;
    EXPECT_THROW(find_record(bad, s.id, "pack"), FormatError) << variants;
    EXPECT_THROW(find_record(bad, s.id, "pack", first_variant), FormatError) << variants;
  }
  EXPECT_THROW(unpack_records(forge(8, 1), "pack"), FormatError);        // as if it had none
  EXPECT_THROW(unpack_records(forge(10, 0x0101), "pack"), FormatError);  // encoded with variants
  EXPECT_THROW(unpack_records(forge(24, 2), "pack"), FormatError);       // twice as high
  EXPECT_THROW(unpack_records(forge(36, 8), "pack"), FormatError);       // twice the payload
}

TEST(ShardFormat, SizesWhoseProductWrapsRoundAreRefused) {
  Sample s;
  s.variants = 16;
  s.payload.assign(16, std::byte{9});
  Bytes bad = pack({s});
  const std::uint32_t side = 1u << 30;  // 16 * 2^30 * 2^30 overflows to 0 in 64 bits
  const std::uint32_t payload_bytes = 0;
  std::memcpy(bad.data() + 16 + 24, &side, 4);
  std::memcpy(bad.data() + 16 + 28, &side, 4);
  std::memcpy(bad.data() + 16 + 36, &payload_bytes, 4);
  const std::uint64_t checksum = xxh3_64(BytesView(bad).subspan(24, 40 + 8 * 16 - 8));
  std::memcpy(bad.data() + 16, &checksum, 8);
  for (const PickVariant& pick : {PickVariant{}, PickVariant(first_variant)}) {
    try {
      find_record(bad, s.id, "pack", pick);
      ADD_FAILURE() << "pixels were found where there are none";
    } catch (const FormatError& error) {
      EXPECT_NE(std::string(error.what()).find("do not fit its size"), std::string::npos);
    }
  }
}

TEST(ShardFormat, RefusesWhatDoesNotFit) {
  Sample s;
  s.payload = {std::byte{9}};
  EXPECT_THROW(pack_records({}), Error);
  EXPECT_THROW(pack({s, s}), Error);  // the same id twice
  Sample many_labels = s;
  many_labels.labels.resize(65536);
  EXPECT_THROW(pack({many_labels}), Error);
  Sample long_group = s;
  long_group.group.resize(65536);
  EXPECT_THROW(pack({long_group}), Error);
  Sample short_pixels = s;
  short_pixels.height_px = 2;
  EXPECT_THROW(pack({short_pixels}), Error);
  Sample no_variant = s;
  no_variant.variants = 0;
  EXPECT_THROW(pack({no_variant}), Error);
  Sample few_variants = s;
  few_variants.variants = 2;  // but it has a single pixel
  EXPECT_THROW(pack({few_variants}), Error);
  Sample encoded_variants = few_variants;
  encoded_variants.coding = Coding::kEncoded;
  EXPECT_THROW(pack({encoded_variants}), Error);
  Sample many_variants = s;
  many_variants.variants = 65536;
  many_variants.payload.resize(65536);
  EXPECT_THROW(pack({many_variants}), Error);
  Sample no_shape = s;
  no_shape.channels = 2;
  EXPECT_THROW(pack({no_shape}), Error);
}

}  // namespace winnow::pipeline::shard_format_test
