#include "tests/fuzz/coverage/mutators.h"

#include <archive.h>
#include <archive_entry.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/json.h"
#include "common/lmdb/structure.h"
#include "tests/common/deflate.h"
#include "tests/fuzz/coverage/harness.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace winnow::fuzz {
namespace {

using Random = std::minstd_rand;
using Mutate = void (*)(std::string& bytes, std::size_t most, Random& random);

constexpr std::size_t kMostInflated = 1 << 20;

void mutate_bytes(std::string& bytes, std::size_t most, Random& /*random*/) {
  const std::size_t size = bytes.size();
  bytes.resize(std::max(most, size));
  bytes.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(bytes.data()), size, bytes.size()));
}

// nullopt if it is no such stream, or too large.
std::optional<std::string> inflated(const std::string& bytes, int window_bits) {
  z_stream z{};
  if (inflateInit2(&z, window_bits) != Z_OK) return std::nullopt;
  std::string out(kMostInflated, '\0');
  z.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  const int end = inflate(&z, Z_FINISH);
  out.resize(z.total_out);
  inflateEnd(&z);
  if (end != Z_STREAM_END) return std::nullopt;
  return out;
}

// Changes the content of a compressed stream; occasionally the stream itself.
void mutate_inside(std::string& stream, int window_bits, std::size_t most, Random& random,
                   Mutate mutate) {
  auto inner = random() % 8 == 0 ? std::nullopt : inflated(stream, window_bits);
  if (!inner) return mutate_bytes(stream, most, random);
  mutate(*inner, most, random);
  stream = test::deflated(*inner, {.level = Z_BEST_SPEED, .window_bits = window_bits});
}

constexpr std::size_t kBlock = 512;

// Sets the checksum of each block that claims to be a header.
void seal_tar(std::string& bytes) {
  for (std::size_t at = 0; at + kBlock <= bytes.size(); at += kBlock) {
    char* const header = bytes.data() + at;
    if (std::memcmp(header + 257, "ustar", 5) != 0) continue;
    std::memset(header + 148, ' ', 8);
    unsigned sum = 0;
    for (std::size_t i = 0; i < kBlock; ++i) sum += static_cast<unsigned char>(header[i]);
    std::snprintf(header + 148, 8, "%06o", sum);
  }
}

// Changes bytes anywhere or in one header, or copies, moves or removes whole blocks.
void mutate_tar(std::string& bytes, std::size_t most, Random& random) {
  const std::size_t blocks = bytes.size() / kBlock;
  const auto kind = random() % 4;
  if (kind == 0 || blocks < 2) {
    mutate_bytes(bytes, most, random);
  } else if (kind == 1) {
    const std::size_t at = random() % blocks * kBlock;
    std::string block = bytes.substr(at, kBlock);
    mutate_bytes(block, kBlock, random);
    block.resize(kBlock);
    bytes.replace(at, kBlock, block);
  } else {
    const std::size_t from = random() % blocks;
    const std::size_t count = 1 + random() % std::min<std::size_t>(blocks - from, 4);
    const std::string run = bytes.substr(from * kBlock, count * kBlock);
    if (kind == 2) bytes.erase(from * kBlock, run.size());
    if (bytes.size() + run.size() <= most) {
      bytes.insert(random() % (bytes.size() / kBlock + 1) * kBlock, run);
    }
  }
  seal_tar(bytes);
}

void mutate_tar_gz(std::string& bytes, std::size_t most, Random& random) {
  mutate_inside(bytes, test::kGzipStream, most, random, mutate_tar);
}

struct Packed {
  int filter = ARCHIVE_FILTER_NONE;
  std::string inner;
};

// nullopt if it is no stream of xz, zstd, bzip2 or lz4, or too large.
std::optional<Packed> unpacked(const std::string& bytes) {
  const std::unique_ptr<archive, decltype(&archive_read_free)> a(archive_read_new(),
                                                                 archive_read_free);
  archive_read_support_filter_xz(a.get());
  archive_read_support_filter_zstd(a.get());
  archive_read_support_filter_bzip2(a.get());
  archive_read_support_filter_lz4(a.get());
  archive_read_support_format_raw(a.get());
  archive_entry* entry = nullptr;
  if (archive_read_open_memory(a.get(), bytes.data(), bytes.size()) != ARCHIVE_OK ||
      archive_read_next_header(a.get(), &entry) != ARCHIVE_OK) {
    return std::nullopt;
  }
  Packed packed{archive_filter_code(a.get(), 0), std::string(kMostInflated, '\0')};
  if (packed.filter == ARCHIVE_FILTER_NONE) return std::nullopt;
  // One call returns everything, or fewer bytes at the end.
  const la_ssize_t size = archive_read_data(a.get(), packed.inner.data(), packed.inner.size());
  if (size < 0 || size == std::ssize(packed.inner)) return std::nullopt;
  packed.inner.resize(static_cast<std::size_t>(size));
  return packed;
}

// Packed by libarchive, with the checksums of this filter.
std::string packed_by(int filter, const std::string& inner) {
  const std::unique_ptr<archive, decltype(&archive_write_free)> a(archive_write_new(),
                                                                  archive_write_free);
  std::string out(2 * inner.size() + (1 << 16), '\0');
  std::size_t used = 0;
  const std::unique_ptr<archive_entry, decltype(&archive_entry_free)> entry(archive_entry_new(),
                                                                            archive_entry_free);
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  expect(archive_write_set_format_raw(a.get()) == ARCHIVE_OK &&
             archive_write_add_filter(a.get(), filter) == ARCHIVE_OK &&
             archive_write_set_filter_option(a.get(), nullptr, "compression-level", "1") ==
                 ARCHIVE_OK &&
             archive_write_open_memory(a.get(), out.data(), out.size(), &used) == ARCHIVE_OK &&
             archive_write_header(a.get(), entry.get()) == ARCHIVE_OK &&
             archive_write_data(a.get(), inner.data(), inner.size()) == std::ssize(inner) &&
             archive_write_close(a.get()) == ARCHIVE_OK,
         "what was unpacked can be packed again");
  out.resize(used);
  return out;
}

// Changes an archive in a stream of a filter other than gzip. Occasionally it uses another such
// filter, splits the archive into two streams in a row, or changes the stream itself.
void mutate_packed_tar(std::string& bytes, std::size_t most, Random& random) {
  constexpr int kFilters[]{ARCHIVE_FILTER_XZ, ARCHIVE_FILTER_ZSTD, ARCHIVE_FILTER_BZIP2,
                           ARCHIVE_FILTER_LZ4};
  auto packed = random() % 8 == 0 ? std::nullopt : unpacked(bytes);
  if (!packed) return mutate_bytes(bytes, most, random);
  mutate_tar(packed->inner, most, random);
  if (random() % 16 == 0) packed->filter = kFilters[random() % std::size(kFilters)];
  const std::string& inner = packed->inner;
  const std::size_t first = random() % 8 == 0 ? random() % (inner.size() + 1) : inner.size();
  bytes = packed_by(packed->filter, inner.substr(0, first));
  if (first < inner.size()) bytes += packed_by(packed->filter, inner.substr(first));
}

// Two compressed files, preceded by the length of the first.
void mutate_two_gz(std::string& bytes, std::size_t most, Random& random) {
  if (bytes.size() < 2) return mutate_bytes(bytes, most, random);
  const std::size_t says =
      static_cast<unsigned char>(bytes[0]) + 256U * static_cast<unsigned char>(bytes[1]);
  const std::size_t length = std::min(says, bytes.size() - 2);
  std::string first = bytes.substr(2, length);
  std::string second = bytes.substr(2 + length);
  mutate_inside(random() % 2 == 0 ? first : second, test::kGzipStream, most, random, mutate_bytes);
  first.resize(std::min<std::size_t>(first.size(), 0xFFFF));
  bytes = {static_cast<char>(first.size() & 255), static_cast<char>(first.size() >> 8)};
  bytes += first + second;
}

template <class T>
T number_at(const std::string& bytes, std::size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// Changes one compressed variable of a MAT-file.
void mutate_mat(std::string& bytes, std::size_t most, Random& random) {
  constexpr std::size_t kHeader = 128;
  constexpr std::uint32_t kCompressed = 15;
  std::vector<std::pair<std::size_t, std::size_t>> places;
  for (std::size_t at = kHeader; at + 8 <= bytes.size();) {
    const auto size = number_at<std::uint32_t>(bytes, at + 4);
    if (size > bytes.size() - at - 8) break;
    if (number_at<std::uint32_t>(bytes, at) == kCompressed) places.emplace_back(at, size);
    at += 8 + std::size_t{size};
  }
  if (places.empty() || random() % 8 == 0) return mutate_bytes(bytes, most, random);
  const auto [at, size] = places[random() % places.size()];
  std::string stream = bytes.substr(at + 8, size);
  mutate_inside(stream, test::kZlibStream, most, random, mutate_bytes);
  const auto now = static_cast<std::uint32_t>(stream.size());
  std::memcpy(bytes.data() + at + 4, &now, sizeof now);
  bytes.replace(at + 8, size, stream);
}

std::uint32_t big_endian_at(const std::string& bytes, std::size_t at) {
  return __builtin_bswap32(number_at<std::uint32_t>(bytes, at));
}
std::string big_endian(std::uint32_t value) {
  value = __builtin_bswap32(value);
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// Changes one chunk, pixels decompressed, with the right length and CRC. Or copies or removes
// chunks.
void mutate_png(std::string& bytes, std::size_t most, Random& random) {
  constexpr std::size_t kMagic = 8;
  std::vector<std::pair<std::size_t, std::size_t>> chunks;  // begin of a chunk, bytes of its data
  for (std::size_t at = kMagic; at + 12 <= bytes.size();) {
    const std::size_t size = big_endian_at(bytes, at);
    if (size > bytes.size() - at - 12) break;
    chunks.emplace_back(at, size);
    at += 12 + size;
  }
  if (chunks.empty() || random() % 8 == 0) return mutate_bytes(bytes, most, random);
  const auto [at, size] = chunks[random() % chunks.size()];
  const std::string whole = bytes.substr(at, 12 + size);
  if (const auto kind = random() % 16; kind == 0) {
    bytes.erase(at, whole.size());
  } else if (kind == 1) {
    bytes.insert(chunks[random() % chunks.size()].first, whole);
  } else {
    const std::string name = whole.substr(4, 4);
    std::string data = whole.substr(8, size);
    if (name == "IDAT") {
      mutate_inside(data, test::kZlibStream, most, random, mutate_bytes);
    } else {
      mutate_bytes(data, most, random);
    }
    const std::string summed = name + data;
    const auto crc =
        crc32(0, reinterpret_cast<const Bytef*>(summed.data()), static_cast<uInt>(summed.size()));
    bytes.replace(at, whole.size(),
                  big_endian(static_cast<std::uint32_t>(data.size())) + summed +
                      big_endian(static_cast<std::uint32_t>(crc)));
  }
}

// Changes one value of an LMDB file at the same length; occasionally any bytes of the file.
void mutate_lmdb(std::string& bytes, std::size_t most, Random& random) {
  std::vector<std::pair<std::size_t, std::size_t>> places;  // begin, bytes
  try {
    const BytesView text = as_bytes(bytes);
    const Bytes file(text.begin(), text.end());
    lmdb::for_each_entry(file, "file", [&](BytesView, std::uint64_t begin, std::uint64_t size) {
      if (size > 0) places.emplace_back(begin, size);
    });
  } catch (const FormatError&) {
    places.clear();
  }
  if (places.empty() || random() % 4 == 0) return mutate_bytes(bytes, most, random);
  const auto [at, size] = places[random() % places.size()];
  std::string value = bytes.substr(at, size);
  mutate_bytes(value, size, random);
  value.resize(size);
  bytes.replace(at, size, value);
}

using Json = nlohmann::ordered_json;

void add_values(Json& value, std::vector<Json*>& out) {
  out.push_back(&value);
  if (!value.is_structured()) return;
  for (auto& [name, inner] : value.items()) add_values(inner, out);
}

// Replaces a value by another, by a hostile one or by one from elsewhere, or removes or repeats it
// in its list or object.
void mutate_value(Json& value, const Json& elsewhere, std::size_t most, Random& random) {
  static const Json hostile = Json::parse(
      R"([null, true, "", [], {}, 0, -1, 2.5, 1e300, 2147483648, 4294967296,
          9223372036854775808, 18446744073709551615, "../x", "a\u0000b"])");
  const auto kind = random() % 4;
  if (kind == 0) {
    value = hostile[random() % hostile.size()];
  } else if (kind == 1) {
    value = elsewhere;
  } else if (value.is_string()) {
    mutate_bytes(value.get_ref<std::string&>(), most, random);
  } else if (value.is_number()) {
    value = value.get<double>() + (kind == 2 ? 1 : -1);
  } else if (value.is_structured() && !value.empty()) {
    const auto at = std::next(value.begin(), static_cast<std::ptrdiff_t>(random() % value.size()));
    if (kind == 2) {
      value.erase(at);
    } else if (value.is_array()) {
      value.push_back(Json(*at));
    } else {
      value["x" + std::to_string(value.size())] = Json(*at);
    }
  }
}

// Changes one value of a text; occasionally any bytes.
void mutate_json_as(std::string& text, std::size_t most, Random& random, int indent) {
  Json json = Json::value_t::discarded;
  if (winnow::Json::parse_if_json(text)) json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || random() % 4 == 0) return mutate_bytes(text, most, random);
  std::vector<Json*> values;
  add_values(json, values);
  const Json elsewhere = *values[random() % values.size()];
  mutate_value(*values[random() % values.size()], elsewhere, most, random);
  text = json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

// Written like winnow's JSON, so that a digest line can be found.
void mutate_json(std::string& text, std::size_t most, Random& random) {
  mutate_json_as(text, most, random, 2);
  if (!text.ends_with('\n')) text += '\n';
}

// Changes one of the lines that are JSON.
void mutate_json_lines(std::string& text, std::size_t most, Random& random) {
  std::vector<std::size_t> begins{0};
  for (std::size_t at = text.find('\n'); at < text.size(); at = text.find('\n', at + 1)) {
    begins.push_back(at + 1);
  }
  const std::size_t begin = begins[random() % begins.size()];
  const std::size_t end = std::min(text.find('\n', begin), text.size());
  std::string line = text.substr(begin, end - begin);
  mutate_json_as(line, most, random, -1);
  text.replace(begin, end - begin, line);
}

// Changes the header of a safetensors file, with the right length.
void mutate_safetensors(std::string& bytes, std::size_t most, Random& random) {
  constexpr std::size_t kLength = sizeof(std::uint64_t);
  const auto length =
      bytes.size() < kLength ? ~std::uint64_t{0} : number_at<std::uint64_t>(bytes, 0);
  if (length > bytes.size() - std::min(bytes.size(), kLength) || random() % 8 == 0) {
    return mutate_bytes(bytes, most, random);
  }
  std::string header = bytes.substr(kLength, length);
  mutate_json_as(header, most, random, -1);
  const std::uint64_t now = header.size();
  bytes.replace(kLength, length, header);
  std::memcpy(bytes.data(), &now, kLength);
}

struct Row {
  std::string_view harness;
  Mutate mutate;
};
constexpr Row kRows[]{{"tar", mutate_tar},           {"webdataset", mutate_tar},
                      {"tar_gz", mutate_tar_gz},     {"idx_gz", mutate_two_gz},
                      {"tar_xz", mutate_packed_tar}, {"svhn", mutate_mat},
                      {"png", mutate_png},           {"caffe_lmdb", mutate_lmdb},
                      {"shard", mutate_lmdb},        {"json", mutate_json},
                      {"manifest", mutate_json},     {"index_manifest", mutate_json},
                      {"copy", mutate_json},         {"peer_files", mutate_json},
                      {"run_state", mutate_json},    {"plan", mutate_json},
                      {"config", mutate_json},       {"checkpoint", mutate_json},
                      {"ledger", mutate_json_lines}, {"metrics", mutate_json_lines},
                      {"review", mutate_json_lines}, {"safetensors", mutate_safetensors}};

Mutate chosen = mutate_bytes;

}  // namespace

void choose_mutator(std::string_view harness) {
  for (const Row& row : kRows) {
    if (row.harness == harness) chosen = row.mutate;
  }
}

}  // namespace winnow::fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  winnow::fuzz::Random random(seed);
  std::string bytes(reinterpret_cast<const char*>(data), size);
  winnow::fuzz::chosen(bytes, most, random);
  bytes.resize(std::min(bytes.size(), most));
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}
