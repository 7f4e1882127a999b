#pragma once

#include <zlib.h>

#include <stdexcept>
#include <string>

namespace winnow::test {

// The header and checksum around compressed data, as zlib's windowBits; also for inflateInit2().
inline constexpr int kZlibStream = MAX_WBITS;
inline constexpr int kGzipStream = MAX_WBITS + 16;

struct DeflateOptions {
  int level = Z_DEFAULT_COMPRESSION;  // 0 to 9
  int window_bits = kZlibStream;
};

// Compresses `bytes` into a single stream. They must be less than 4 GiB.
inline std::string deflated(const std::string& bytes, const DeflateOptions& options = {}) {
  z_stream z{};
  if (deflateInit2(&z, options.level, Z_DEFLATED, options.window_bits, 8, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    throw std::runtime_error("zlib takes no such options");
  }
  std::string out(deflateBound(&z, static_cast<uLong>(bytes.size())), '\0');
  z.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  const int end = deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  if (end != Z_STREAM_END) throw std::runtime_error("a stream is longer than zlib said");
  return out;
}

}  // namespace winnow::test
