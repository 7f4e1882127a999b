// compare PICTURE...
//
// Prints the number of bits in which the perceptual hashes of pictures differ, the nearest pair
// first. Pairs within the usual threshold are called duplicates.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "common/file.h"
#include "dedup/hash/hashes.h"
#include "dedup/search/search.h"
#include "pipeline/decode/decode.h"

namespace {

struct Pair {
  int bits;
  std::string names;
};

std::vector<std::uint64_t> code_of(const char* path, const winnow::dedup::HashKind& hash) {
  const winnow::Bytes bytes = winnow::read_file(path);
  const auto image = winnow::pipeline::decode(bytes, {});
  if (!image) throw winnow::Error(std::string(path) + ": " + image.error().detail);
  return winnow::dedup::compute_hash(image->view(), hash).words;
}

void compare(const std::vector<const char*>& paths) {
  const winnow::dedup::HashKind hash = winnow::dedup::find_hash("phash");
  std::vector<std::vector<std::uint64_t>> codes;
  for (const char* path : paths) codes.push_back(code_of(path, hash));
  std::vector<Pair> pairs;
  for (std::size_t a = 0; a < paths.size(); ++a) {
    for (std::size_t b = a + 1; b < paths.size(); ++b) {
      pairs.push_back({winnow::dedup::code_distance(codes[a], codes[b], hash.orientations),
                       std::string(paths[a]) + " " + paths[b]});
    }
  }
  std::ranges::stable_sort(pairs, {}, &Pair::bits);
  for (const Pair& pair : pairs) {
    std::printf("%d %s%s\n", pair.bits, pair.names.c_str(),
                pair.bits <= winnow::dedup::usual_threshold("phash") ? " duplicates" : "");
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    compare({argv + 1, argv + argc});
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "compare: %s\n", error.what());
    return 1;
  }
}
