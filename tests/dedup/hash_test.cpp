#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "common/error.h"
#include "common/resample.h"
#include "common/rng.h"
#include "dedup/hash/features.h"
#include "dedup/hash/hashes.h"
#include "places.h"
#include "tests/common/formula_images.h"

namespace winnow::dedup::hash_test {

using test::formula_image;

std::filesystem::path data_folder() {
  if (const char* folder = std::getenv("WINNOW_TEST_DATA")) return folder;
  return std::filesystem::path(PROJECT_SOURCE_DIR).parent_path() / "shared" / "data";
}

std::vector<std::uint64_t> code_of(const HashKind& hash, ImageView image) {
  return compute_hash(image, hash).words;
}

std::string hex_of(const char* hash, const Image& image) {
  return to_hex(code_of(find_hash(hash), image.view()));
}

Image flat(int height, int width, int value) {
  Image image(height, width, 1);
  std::fill(image.pixels.begin(), image.pixels.end(), static_cast<std::uint8_t>(value));
  return image;
}

// Bits of whash whose block is as bright as the median block.
std::uint64_t blocks_at_the_median(const Image& image) {
  const auto shorter = static_cast<unsigned>(std::min(image.height_px, image.width_px));
  const int side = std::max(8, static_cast<int>(std::bit_floor(shorter)));
  const Image small = resize(to_gray(image.view()).view(), side, side, ResampleFilter::kLanczos);
  std::vector<long> sums(64);
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) {
      sums[static_cast<std::size_t>(y * 8 / side * 8 + x * 8 / side)] += small.view().row(y)[x];
    }
  }
  std::vector<long> sorted = sums;
  std::ranges::sort(sorted);
  std::uint64_t bits = 0;
  for (const long sum : sums) bits = bits << 1 | std::uint64_t{2 * sum == sorted[31] + sorted[32]};
  return bits;
}

// The output of imagehash 4.3 with Pillow 9.4. A change here must raise the version of the hash.
TEST(Hash, IsImagehashsBitForBit) {
  struct Golden {
    const char* kind;
    int width;
    int height;
    const char* phash;
    const char* dhash;
  };
  constexpr Golden kGolden[] = {
      {"ramp", 97, 61, "a9035754a2ac577d", "d9d99b93b3362666"},
      {"ramp", 9, 8, "8000000000000000", "ffffffffffffffff"},
      {"lcg", 97, 61, "e3cb714b303134bb", "c8c186844dd14a96"},
      {"lcg", 5, 7, "9a1cd296dcd81667", "38cef833e7cc380e"},
      {"blob", 97, 61, "c0002b002d002d00", "c0c0c0c0c0c0c0c0"},
      {"blob", 513, 300, "c02f296d2dd92d2b", "c0c0c0c0c0c0c0c0"},
      {"tri", 97, 61, "9fb56b5b624a6450", "1f1e3c3c38707173"},
      {"tri", 32, 32, "ff95aad2a5caa0c0", "0000000000000103"},
  };
  for (const Golden& g : kGolden) {
    const Image image = formula_image(g.kind, g.width, g.height);
    EXPECT_EQ(hex_of("phash", image), g.phash) << g.kind << " " << g.width;
    EXPECT_EQ(hex_of("dhash", image), g.dhash) << g.kind << " " << g.width;
  }
  EXPECT_EQ(find_hash("phash").row->version, 1U);
  EXPECT_EQ(find_hash("dhash").row->version, 1U);
}

TEST(Hash, MatchesTheTableOfGoldenHashes) {
  const auto path = data_folder() / "hash_golden.csv";
  std::ifstream file(path);
  if (!file) GTEST_SKIP() << "there is no " << path << " (set WINNOW_TEST_DATA to its folder)";
  std::string line;
  std::getline(file, line);
  ASSERT_TRUE(line.starts_with("image,width,height,algorithm,hex,pdq_quality")) << line;
  const std::map<std::string, const char*> names{{"imagehash.average_hash", "ahash"},
                                                 {"imagehash.phash", "phash"},
                                                 {"imagehash.phash16", "phash16"},
                                                 {"imagehash.dhash", "dhash"},
                                                 {"imagehash.dhash_vertical", "dhash_vertical"},
                                                 {"imagehash.whash", "whash"},
                                                 {"imagededup.AHash", "imagededup_ahash"},
                                                 {"imagededup.DHash", "imagededup_dhash"},
                                                 {"imagededup.PHash", "imagededup_phash"},
                                                 {"imagededup.WHash", "imagededup_whash"},
                                                 {"pdq.core(no 512 shrink)", "pdq"}};
  std::map<std::string, int> compared;
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    std::string kind, width, height, algorithm, hex, quality;
    for (std::string* cell : {&kind, &width, &height, &algorithm, &hex, &quality}) {
      std::getline(cells, *cell, ',');
    }
    const auto name = names.find(algorithm);
    if (name == names.end()) continue;
    if (quality.ends_with('\r')) quality.pop_back();
    const Image image = formula_image(kind, std::stoi(width), std::stoi(height));
    const HashKind hash = find_hash(name->second);
    const auto [words, measured] = compute_hash(image.view(), hash);
    if (hash.row->name == "whash") {
      // For blocks that tie with the median, the rounding of imagehash decides.
      const std::uint64_t theirs = std::stoull(hex, nullptr, 16);
      EXPECT_EQ((words[0] ^ theirs) & ~blocks_at_the_median(image), 0U) << line;
    } else {
      EXPECT_EQ(to_hex(words), hex) << line;
    }
    EXPECT_EQ(measured, quality.empty() ? 100 : std::stoi(quality)) << line;
    ++compared[algorithm];
  }
  EXPECT_EQ(compared.size(), names.size());
  for (const auto& [algorithm, count] : compared) EXPECT_EQ(count, 24) << algorithm;
}

// One number per hash. The test runs with each instruction set, and no hash may be missing.
TEST(Hash, IsTheSameWithAnyInstructions) {
  const std::map<std::string, std::uint64_t> want{
      {"ahash", 7939563635248227089U},
      {"block_mean", 11411468699719657632U},
      {"dhash", 16164566741835358326U},
      {"dhash_vertical", 2573541333397549353U},
      {"features", 1170871000040033072U},
      {"imagededup_ahash", 11820154779089342773U},
      {"imagededup_dhash", 15496804554335211740U},
      {"imagededup_phash", 2984986819388026344U},
      {"imagededup_whash", 6258545574218825777U},
      {"pdq", 3990982638429864657U},
      {"pdq_dihedral", 215751204212926991U},
      {"pdq_mirrored", 11880619822476212195U},
      {"phash", 2317424376161390412U},
      {"phash16", 2094104684104070318U},
      {"phash16_dihedral", 2519263096874592996U},
      {"phash16_mirrored", 12733999671206916042U},
      {"phash_dihedral", 6249316166386862554U},
      {"phash_mirrored", 9224542398608690154U},
      {"whash", 10474493550027446391U},
  };
  CounterRng rng(1, 0, 0, RandomUse::kTest);
  const auto below = [&rng](std::uint32_t n) { return static_cast<int>(rng.next_u32() % n); };
  std::map<std::string, std::vector<std::uint64_t>> words;
  for (int i = 0; i < 200; ++i) {
    Image image(1 + below(300), 1 + below(300), below(2) == 0 ? 1 : 3);
    // Few steps give smooth images, many give noise.
    const auto steps = static_cast<std::uint32_t>(1 + below(256));
    int value = 128;
    for (std::uint8_t& p : image.pixels) {
      value = std::clamp(value + below(2 * steps + 1) - static_cast<int>(steps), 0, 255);
      p = static_cast<std::uint8_t>(value);
    }
    for (const HashKind& hash : hash_kinds()) {
      const auto code = code_of(hash, image.view());
      auto& to = words[hash.name()];
      to.insert(to.end(), code.begin(), code.end());
    }
    const Image gray = to_gray(image.view());
    words["features"].push_back(std::bit_cast<std::uint32_t>(sharpness(gray.view())));
    words["features"].push_back(std::bit_cast<std::uint32_t>(quality(gray.view())));
  }
  std::map<std::string, std::uint64_t> digests;
  for (const auto& [name, all] : words) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(all.data());
    digests[name] = test::fnv1a(std::span(bytes, all.size() * sizeof(all[0])));
  }
  EXPECT_EQ(digests, want);
}

Image in_orientation(ImageView image, int k) {
  const bool transposed = (k & 4) != 0;
  Image out(transposed ? image.width_px : image.height_px,
            transposed ? image.height_px : image.width_px, image.channels);
  std::uint8_t* to = out.pixels.data();
  for (int i = 0; i < out.height_px; ++i) {
    for (int j = 0; j < out.width_px; ++j) {
      const int y = transposed ? j : i;
      const int x = transposed ? i : j;
      const std::uint8_t* from =
          image.row((k & 2) != 0 ? image.height_px - 1 - y : y) +
          std::ptrdiff_t{(k & 1) != 0 ? image.width_px - 1 - x : x} * image.channels;
      to = std::copy(from, from + image.channels, to);
    }
  }
  return out;
}

// Enlarged noise of 12x12 is smooth, like photos, and has all frequencies that matter.
Image smooth_image(int height, int width, std::uint64_t seed) {
  CounterRng rng(seed, 0, 0, RandomUse::kTest);
  Image noise(12, 12, 3);
  for (std::uint8_t& p : noise.pixels) p = static_cast<std::uint8_t>(rng.below(256));
  return resize(noise.view(), height, width, ResampleFilter::kLanczos);
}

// At some sizes PDQ's filter and samples are off centre. Then a turned picture has other samples.
bool keeps_pdqs_places(const Image& image) {
  const auto keeps = [](int side) { return (side + 127) / 128 % 2 == 1 && side % 128 != 0; };
  return keeps(image.height_px) && keeps(image.width_px);
}

TEST(Orientations, AreThoseOfTheTurnedPictures) {
  std::vector<Image> images;
  for (std::uint64_t i = 0; i < 40; ++i) {
    const auto side = [&](std::uint64_t k) { return static_cast<int>(40 + (i * k) % 300); };
    images.push_back(smooth_image(side(37), side(91), i));
  }
  for (const char* kind : {"tri", "lcg"}) images.push_back(formula_image(kind, 97, 61));
  for (const HashKind& hash : hash_kinds()) {
    const int orientations = hash.orientations;
    if (orientations == 1) continue;
    const HashKind plain{hash.row};
    const auto words = static_cast<std::size_t>(plain.bits()) / 64;
    int codes = 0;
    int equal = 0;
    int bits = 0;
    for (const Image& image : images) {
      const auto all = code_of(hash, image.view());
      ASSERT_EQ(std::vector(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(words)),
                code_of(plain, image.view()));
      if (hash.row->name == "pdq" && !keeps_pdqs_places(image)) continue;
      for (int k = 1; k < orientations; ++k) {
        const auto want = code_of(plain, in_orientation(image.view(), k).view());
        int different = 0;
        for (std::size_t w = 0; w < words; ++w) {
          different += std::popcount(all[static_cast<std::size_t>(k) * words + w] ^ want[w]);
        }
        ++codes;
        equal += different == 0 ? 1 : 0;
        bits += different;
      }
    }
    RecordProperty(hash.name(), std::to_string(equal) + " of " + std::to_string(codes) +
                                    " equal, " + std::to_string(bits) + " bits off");
    EXPECT_GE(codes, 15) << hash.name();
    EXPECT_GT(equal, codes * 3 / 4) << hash.name();
    EXPECT_LT(bits, codes * plain.bits() / 100) << hash.name();
    // Mirrored images are resized with mirrored weights. Turned ones are resized by columns first.
    EXPECT_TRUE(orientations != 2 || equal == codes) << hash.name();
  }
}

TEST(Hash, FlatImagesAllHaveOneHash) {
  for (const int value : {1, 128, 255}) {
    EXPECT_EQ(hex_of("phash", flat(40, 70, value)), "8000000000000000");
    EXPECT_EQ(hex_of("dhash", flat(40, 70, value)), "0000000000000000");
  }
  EXPECT_EQ(hex_of("phash", flat(40, 70, 0)), "0000000000000000");
  for (const char* hash : {"ahash", "dhash_vertical", "whash", "imagededup_dhash"}) {
    EXPECT_EQ(hex_of(hash, flat(40, 70, 128)), "0000000000000000") << hash;
  }
  for (const char* hash : {"imagededup_ahash", "imagededup_whash", "imagededup_phash"}) {
    EXPECT_EQ(hex_of(hash, flat(40, 70, 128)), "ffffffffffffffff") << hash;
  }
  EXPECT_EQ(compute_hash(flat(40, 70, 128).view(), find_hash("pdq")).quality, 0);
}

TEST(Hash, TakesAnySizeAndPaddedRows) {
  const Image image = to_gray(formula_image("tri", 97, 61).view());
  for (const HashKind& hash : hash_kinds()) {
    for (const int height : {1, 2, 7, 61}) {
      for (const int width : {1, 2, 9, 97}) {
        const ImageView part{image.pixels.data(), height, width, 1, 97};
        const Image copy = resize(part, height, width, ResampleFilter::kBilinear);
        EXPECT_EQ(code_of(hash, part), code_of(hash, copy.view()))
            << hash.name() << " " << height << "x" << width;
      }
    }
  }
}

TEST(Hash, CopiesAtOtherSizesStayNearAndOthersFar) {
  for (const HashKind& hash : hash_kinds()) {
    if (hash.orientations > 1) continue;
    std::vector<std::vector<std::uint64_t>> codes;
    const auto distance = [](const auto& a, const auto& b) {
      int bits = 0;
      for (std::size_t i = 0; i < a.size(); ++i) bits += std::popcount(a[i] ^ b[i]);
      return bits;
    };
    for (const int offset : {0, 10, 20, 30}) {
      // Enlarged noise of 12x12 is smooth, like photos, and has all frequencies that matter.
      const Image noise = to_gray(formula_image("lcg", 12, 12 + offset).view());
      ImageView end = noise.view();
      end.data = end.row(offset);
      end.height_px = 12;
      const Image large = resize(end, 300, 513, ResampleFilter::kBilinear);
      const Image small = resize(large.view(), 150, 200, ResampleFilter::kLanczos);
      const auto a = code_of(hash, large.view());
      const auto b = code_of(hash, small.view());
      // Some of the 256 bits are for frequencies that these pictures hardly have.
      EXPECT_LE(distance(a, b), hash.bits() == 64 ? 4 : 48) << hash.name() << " " << offset;
      for (const auto& other : codes) EXPECT_GE(distance(a, other), hash.bits() / 4) << hash.name();
      codes.push_back(a);
    }
  }
}

TEST(Hash, UnknownNamesAreRefusedWithTheKnownOnes) {
  try {
    find_hash("md5");
    FAIL() << "found";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("phash, dhash"), std::string::npos) << error.what();
  }
}

TEST(Hash, HexIsMostSignificantFirst) {
  const std::uint64_t words[] = {0x0123456789abcdef, 0x8000000000000001};
  EXPECT_EQ(to_hex(words), "0123456789abcdef8000000000000001");
}

double slow_sharpness(const Image& gray) {
  const auto at = [&](int y, int x) {
    return static_cast<double>(gray.pixels[static_cast<std::size_t>(y * gray.width_px + x)]);
  };
  std::vector<double> values;
  for (int y = 1; y + 1 < gray.height_px; ++y) {
    for (int x = 1; x + 1 < gray.width_px; ++x) {
      values.push_back(at(y - 1, x) + at(y + 1, x) + at(y, x - 1) + at(y, x + 1) - 4 * at(y, x));
    }
  }
  double mean = 0;
  for (const double v : values) mean += v / static_cast<double>(values.size());
  double variance = 0;
  for (const double v : values) variance += (v - mean) * (v - mean);
  return variance / static_cast<double>(values.size());
}

TEST(Features, SharpnessIsTheVarianceOfTheLaplacian) {
  for (const char* kind : {"ramp", "lcg", "blob", "tri"}) {
    for (const int width : {3, 97, 5001}) {
      const Image gray = to_gray(formula_image(kind, width, 11).view());
      const double want = slow_sharpness(gray);
      EXPECT_NEAR(sharpness(gray.view()), want, 1e-5 * want + 1e-6) << kind << " " << width;
    }
  }
  EXPECT_EQ(sharpness(flat(2, 50, 9).view()), 0.0F);
  EXPECT_EQ(sharpness(flat(50, 50, 255).view()), 0.0F);
}

TEST(Features, SharpnessFallsWithBlur) {
  const Image sharp = to_gray(formula_image("lcg", 96, 96).view());
  const Image small = resize(sharp.view(), 48, 48, ResampleFilter::kBilinear);
  const Image blurred = resize(small.view(), 96, 96, ResampleFilter::kBilinear);
  EXPECT_GT(sharpness(sharp.view()), 4 * sharpness(blurred.view()));
  EXPECT_GT(sharpness(blurred.view()), 0.0F);
}

TEST(Features, QualityIsZeroWhereThereIsNothingToMatchOn) {
  for (const int value : {0, 17, 255}) EXPECT_EQ(quality(flat(300, 200, value).view()), 0.0F);
  Image faint = flat(128, 128, 100);
  for (std::size_t i = 0; i < faint.pixels.size(); i += 2) faint.pixels[i] = 101;
  EXPECT_EQ(quality(faint.view()), 0.0F);  // steps below 1 % do not count
  EXPECT_EQ(quality(to_gray(formula_image("lcg", 64, 64).view()).view()), 100.0F);
}

TEST(Features, QualityFollowsPdqs) {
  const auto path = data_folder() / "hash_golden.csv";
  std::ifstream file(path);
  if (!file) GTEST_SKIP() << "there is no " << path << " (set WINNOW_TEST_DATA to its folder)";
  std::string line;
  int compared = 0;
  while (std::getline(file, line)) {
    if (line.find(",pdq.core") == std::string::npos) continue;
    std::istringstream cells(line);
    std::string kind, width, height;
    for (std::string* cell : {&kind, &width, &height}) std::getline(cells, *cell, ',');
    const float pdq = std::stof(line.substr(line.rfind(',') + 1));
    const Image image = formula_image(kind, std::stoi(width), std::stoi(height));
    // The only difference is the filter for shrinking: PDQ's is narrower and keeps more noise.
    const float tolerance = std::stoi(width) <= 64 ? 1.0F : 13.0F;
    EXPECT_NEAR(quality(to_gray(image.view()).view()), pdq, tolerance) << line;
    ++compared;
  }
  EXPECT_EQ(compared, 24);
}

TEST(Hash, NamesSayWhatIsComputed) {
  std::set<std::string> names;
  for (HashKind hash : hash_kinds()) {
    EXPECT_TRUE(names.insert(hash.name()).second) << hash.name();
    EXPECT_EQ(find_hash(hash.name()), hash);
    for (const auto& [suffix, scale] : {std::pair{"@1/2", 2}, {"@1/4", 4}, {"@1/8", 8}}) {
      const std::string name = HashKind{hash.row, hash.orientations}.name() + suffix;
      hash.scale = scale;
      EXPECT_EQ(hash.name(), name);
      EXPECT_EQ(find_hash(name), hash);
    }
  }
  for (const char* name :
       {"phash", "phash_mirrored", "phash16_dihedral", "pdq_mirrored", "pdq_dihedral"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
  EXPECT_EQ(find_hash("pdq_dihedral@1/8").row->name, "pdq");
  EXPECT_EQ(find_hash("pdq_dihedral@1/8").orientations, 8);
  EXPECT_EQ(find_hash("pdq_dihedral@1/8").bits(), 8 * 256);
  for (const char* name : {"md5@1/8", "phash@1/3", "phash@1/1", "phash@", "phash@8", "phash@1/8 ",
                           "@1/8", "phash16@1/16", "dhash_mirrored", "_mirrored",
                           "phash@1/8_mirrored", "phash_mirrored_mirrored"}) {
    EXPECT_THROW(find_hash(name), UsageError) << name;
  }
  const auto scale = [](const std::vector<std::string>& names) { return common_scale(names); };
  EXPECT_EQ(scale({}), 1);
  EXPECT_EQ(scale({"phash", "pdq"}), 1);
  EXPECT_EQ(scale({"phash@1/4", "pdq@1/4"}), 4);
  EXPECT_THROW(scale({"phash@1/4", "phash@1/8"}), UsageError);
  EXPECT_THROW(scale({"phash", "phash@1/8"}), UsageError);
}

}  // namespace winnow::dedup::hash_test
