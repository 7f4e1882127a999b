// The memory of an ingest of pictures of every kind, valid and forged, compared with its
// --memory-limit. Also how soon an ingest ends that is stopped while it decodes a picture.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <opencv2/core.hpp>
#include <optional>
#include <random>
#include <sstream>
#include <thread>

#include "common/file.h"
#include "pipeline/decode/decode.h"
#include "pipeline/store/cache.h"
#include "tests/common/opencv_codecs.h"
#include "tests/common/some_of.h"
#include "tests/common/temporary_folder.h"
#include "tests/common/tiff_maker.h"
#include "tests/pipeline/jpeg_maker.h"

namespace winnow::pipeline {
using namespace test;
namespace memory_limit_test {

namespace fs = std::filesystem;

constexpr int kImages = 500;  // at each of four limits
constexpr std::uint64_t kMebibyte = 1u << 20;

std::string text_of(const auto& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

cv::Mat picture(int width, int height, int type) {
  cv::Mat mat(height, width, type);
  for (int y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < static_cast<std::size_t>(width) * mat.elemSize(); ++x) {
      mat.ptr(y)[x] = static_cast<std::uint8_t>((x * x / 997 + static_cast<std::size_t>(y)) / 4);
    }
  }
  return mat;
}

std::string big_endian(std::uint64_t value) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 255);
  return out;
}

std::string png_chunk(const std::string& data) {  // `data` begins with its type
  const auto* body = reinterpret_cast<const Bytef*>(data.data());
  return big_endian(data.size() - 4) + data +
         big_endian(crc32(0, body, static_cast<uInt>(data.size())));
}

// A PNG of zeros, 8 bits of colours and alpha, of whose rows only `rows` are present.
std::string zeros_png(int width, int height, int rows) {
  const std::string lines(
      static_cast<std::size_t>(rows) * (4 * static_cast<std::size_t>(width) + 1), '\0');
  return std::string("\x89PNG\r\n\x1a\n") +
         png_chunk("IHDR" + big_endian(static_cast<std::uint64_t>(width)) +
                   big_endian(static_cast<std::uint64_t>(height)) +
                   std::string("\x08\x06\0\0\0", 5)) +
         png_chunk("IDAT" + deflated(lines, {.level = 1})) + png_chunk("IEND");
}

struct Kind {
  std::string ending;
  std::function<std::string(int width, int height)> make;
};

Kind by_opencv(const std::string& ending, int type, const std::vector<int>& options = {}) {
  return {ending, [=](int width, int height) {
            std::vector<std::uint8_t> out;
            opencv_encode(ending, picture(width, height, type), out, options);
            return text_of(out);
          }};
}

Kind jpeg(int channels, const JpegOptions& options) {
  return {".jpg", [=](int width, int height) {
            return text_of(make_jpeg(width, height, channels,
                                     picture(width, height, CV_8UC(channels)).data, options));
          }};
}

Kind tiff(TiffOptions options) {
  return {".tif", [=](int width, int height) {
            TiffOptions sized = options;
            sized.width = static_cast<std::uint32_t>(width);
            sized.height = static_cast<std::uint32_t>(height);
            return make_tiff(sized);
          }};
}

// Every format, depth and order of pixels, validly written.
std::vector<Kind> sound_kinds() {
  const std::vector<int> best{cv::IMWRITE_PNG_COMPRESSION, 1};
  std::vector<Kind> kinds{jpeg(3, {}),
                          jpeg(1, {}),
                          jpeg(4, {}),
                          jpeg(3, {.progressive = true}),
                          jpeg(3, {.progressive = true, .luma_width = 1}),
                          jpeg(1, {.progressive = true}),
                          jpeg(4, {.progressive = true}),
                          jpeg(3, {.one_by_one = true}),
                          jpeg(3, {.progressive = true, .luma_width = 4}),
                          jpeg(3, {.arithmetic = true}),
                          by_opencv(".bmp", CV_8UC3),
                          by_opencv(".bmp", CV_8UC1),
                          by_opencv(".ppm", CV_8UC3),
                          by_opencv(".pgm", CV_16UC1),
                          by_opencv(".webp", CV_8UC3, {cv::IMWRITE_WEBP_QUALITY, 50}),
                          by_opencv(".webp", CV_8UC4, {cv::IMWRITE_WEBP_QUALITY, 50}),
                          by_opencv(".webp", CV_8UC3, {cv::IMWRITE_WEBP_QUALITY, 101}),
                          by_opencv(".tiff", CV_8UC3)};
  for (const int type : {CV_8UC1, CV_8UC3, CV_8UC4, CV_16UC1, CV_16UC3, CV_16UC4}) {
    kinds.push_back(by_opencv(".png", type, best));
  }
  for (const std::uint32_t samples : {1U, 3U, 4U}) {
    for (const std::uint32_t bits : {8U, 16U}) {
      kinds.push_back(tiff({.samples = samples, .bits = bits}));
      kinds.push_back(tiff({.samples = samples, .bits = bits, .strip_rows = 16}));
      kinds.push_back(
          tiff({.samples = samples, .bits = bits, .tile_width = 256, .tile_height = 128}));
    }
  }
  return kinds;
}

class Lies {
 public:
  explicit Lies(std::mt19937_64& random) : random_(random) {}

  // Returns the bytes and the file name ending.
  std::pair<std::string, std::string> next() {
    switch (random_() % 5) {
      case 0:
        return {".tif", tiff()};
      case 1:
        return {".png", zeros_png(below(13'000) + 1, below(13'000) + 1, below(9))};
      case 2:
        return {".png", texts()};
      case 3:
        return {".jpg", long_jpeg()};
      default:
        return {".ppm", "P6 " + std::to_string(below(13'000)) + " 13000 255\n" + "abc"};
    }
  }

 private:
  int below(std::uint64_t end) { return static_cast<int>(random_() % end); }

  // A TIFF with the tile and strip entries, sizes, depths and types of another file.
  std::string tiff() {
    const TiffOptions options{
        .width = 10, .height = 10, .samples = 1 + static_cast<std::uint32_t>(random_() % 4)};
    const std::string block = tiff_block(options);
    std::vector<TiffEntry> entries = tiff_entries(options, block.size());
    if (random_() % 2 == 0) {
      // Either no larger than the largest valid picture needs, or too large.
      const std::uint64_t side = random_() % 2 == 0 ? 16 * (1 + random_() % 180) : 16'000;
      entries.push_back({322, 4, {side}});
      entries.push_back({323, 4, {side}});
    }
    constexpr std::array<std::uint32_t, 8> kTags{256, 257, 258, 259, 262, 277, 278, 338};
    constexpr std::array<std::uint32_t, 4> kTypes{1, 3, 4, 16};
    for (int i = below(4); i > 0; --i) {
      const std::uint32_t tag = kTags[random_() % kTags.size()];
      const TiffEntry forged{tag, kTypes[random_() % 4], {random_() >> (random_() % 56 + 8)}};
      auto at = std::find_if(entries.begin(), entries.end(),
                             [&](const TiffEntry& entry) { return entry.tag == tag; });
      if (at == entries.end() || random_() % 4 == 0) {
        entries.push_back(forged);
      } else {
        *at = forged;
      }
    }
    return tiff_file(entries, block);
  }

  std::string texts() {
    const std::string text = deflated(std::string(4'000'000, 'a'), {.level = 1});
    std::string png = zeros_png(8, 8, 8);
    for (int i = 0; i < 30; ++i) png.insert(33, png_chunk(std::string("zTXtk\0\0", 7) + text));
    return png;
  }

  // A frame larger than its data, but not than the largest valid one. Pixels of JPEGs are filled
  // with zeros first.
  std::string long_jpeg() {
    std::string bytes = jpeg(3, {.progressive = random_() % 2 == 0}).make(32, 32);
    const std::size_t frame = std::min(bytes.find("\xff\xc0"), bytes.find("\xff\xc2"));
    for (const std::size_t at : {frame + 5, frame + 7}) {
      const int side = below(2'800) + 1;
      bytes.at(at) = static_cast<char>(side >> 8);
      bytes.at(at + 1) = static_cast<char>(side & 255);
    }
    return bytes;
  }

  std::mt19937_64& random_;
};

std::uint64_t announced(const std::string& bytes) {
  std::uint64_t most = 0;
  const BeforeAllocation before = [&](std::uint64_t count) {
    most = count;
    throw std::bad_alloc();
  };
  try {
    static_cast<void>(decode(as_bytes(bytes), {}, {before, {}}));
  } catch (const std::bad_alloc&) {
  }
  return most;
}

// A set of large pictures of each kind, `scale` times 280 x 210 pixels and shared by a few files;
// small ones of any size; and a fifth of forged ones. Returns the memory announced for the largest
// valid one.
std::uint64_t make_set(const fs::path& folder, std::uint64_t seed, int scale) {
  std::mt19937_64 random(seed);
  const std::vector<Kind> kinds = sound_kinds();
  Lies lies(random);
  std::vector<std::string> large(kinds.size());
  std::uint64_t most = 0;
  for (int i = 0; i < kImages; ++i) {
    const std::size_t kind = random() % kinds.size();
    std::string ending = kinds[kind].ending;
    std::string bytes;
    if (i % 5 == 0) {
      std::tie(ending, bytes) = lies.next();
    } else if (i % 5 == 1) {
      const bool slow = ending == ".webp";
      const int size = slow ? 4 : scale;
      if (large[kind].empty()) large[kind] = kinds[kind].make(280 * size, 210 * size);
      bytes = large[kind];
    } else {
      bytes = kinds[kind].make(1 + static_cast<int>(random() % 500),
                               1 + static_cast<int>(random() % 400));
    }
    if (i % 5 != 0) most = std::max(most, announced(bytes));
    write_new_file(folder / (std::to_string(10'000 + i) + ending), as_bytes(bytes));
  }
  return most;
}

// Runs in a process of its own, because a child starts with its parent's memory.
std::uint64_t made_apart(const std::function<std::uint64_t()>& make) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return 0;
  const pid_t child = ::fork();
  if (child == 0) {
    const std::uint64_t result = make();
    ::_exit(::write(ends[1], &result, sizeof result) == sizeof result ? 0 : 1);
  }
  ::close(ends[1]);
  std::uint64_t result = 0;
  const bool good = ::read(ends[0], &result, sizeof result) == sizeof result;
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(good && status == 0);
  return result;
}

// Starts the program and discards its output.
pid_t start(const std::vector<std::string>& words) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const int nowhere = ::open("/dev/null", O_RDWR);
  for (const int end : {0, 1, 2}) ::dup2(nowhere, end);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

struct Ended {
  int status = 0;
  rusage used{};
  double cpu_seconds() const {
    return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  }
};

Ended wait_for(pid_t child) {
  Ended ended;
  ::wait4(child, &ended.status, 0, &ended.used);
  return ended;
}

std::optional<std::string> program() {
  const char* winnow = std::getenv("WINNOW");
  return winnow == nullptr ? std::nullopt : std::optional<std::string>(winnow);
}

std::uint64_t largest_file(const fs::path& folder) {
  std::uint64_t most = 0;
  for (const auto& file : fs::directory_iterator(folder)) most = std::max(most, file.file_size());
  return most;
}

class MemoryLimit : public testing::TestWithParam<int> {};

TEST_P(MemoryLimit, HoldsWhateverPicturesAreAndSay) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer's own memory is measured here";
#endif
  const auto winnow = program();
  if (!winnow) GTEST_SKIP() << "WINNOW does not say where the program is";
  const TemporaryFolder folder;
  fs::create_directories(folder / "set");
  const auto limit = static_cast<std::uint64_t>(GetParam());
  // So many large pictures that without the limit they would take far more than allowed.
  const std::uint64_t threads = limit >= 256 ? 16 : 8;
  const int scale = limit >= 256 ? 14 : 10;
  const std::uint64_t most = made_apart([&] { return make_set(folder / "set", 7 * limit, scale); });
  const Ended ended = wait_for(
      start({*winnow, "ingest", folder / "set", "--out", folder / "cache", "--labels", "none",
             "--threads", std::to_string(threads), "--memory-limit", std::to_string(limit)}));
  ASSERT_TRUE(WIFEXITED(ended.status));
  ASSERT_EQ(WEXITSTATUS(ended.status), 0);
  EXPECT_EQ(Cache::open(folder / "cache").read_ledger().size(), std::size_t{kImages});
  // By docs/trust.md the memory is the sum of:
  // - the limit;
  // - three eighths of it for kept packs;
  // - one image that is larger than its share;
  // - one that the writer makes again, and the database's copy of it;
  // - the program, with what its allocator keeps per thread.
  const std::uint64_t program_bytes = (72 + threads * 16) * kMebibyte;
  const std::uint64_t share = limit * kMebibyte / 8 * 3;
  const std::uint64_t allowed = program_bytes + limit * kMebibyte + share +
                                (most > share ? most - share : 0) + most +
                                2 * largest_file(folder / "set");
  const auto peak = static_cast<std::uint64_t>(ended.used.ru_maxrss) << 10;
  std::printf(
      "--memory-limit %d: %llu MiB, allowed %llu, the largest picture %llu; %.1f s of CPU\n",
      GetParam(), static_cast<unsigned long long>(peak / kMebibyte),
      static_cast<unsigned long long>(allowed / kMebibyte),
      static_cast<unsigned long long>(most / kMebibyte), ended.cpu_seconds());
  EXPECT_LE(peak, allowed);
}

// The least limit for each number of threads; or all limits.
std::vector<int> limits() {
  return run_all() ? std::vector{64, 128, 256, 512} : std::vector{64, 256};
}

INSTANTIATE_TEST_SUITE_P(Mebibytes, MemoryLimit, testing::ValuesIn(limits()));

double cpu_seconds_of(pid_t process) {
  std::ifstream in("/proc/" + std::to_string(process) + "/stat");
  std::stringstream text;
  text << in.rdbuf();
  std::istringstream fields(text.str().substr(text.str().rfind(')') + 2));
  std::string field;
  for (int i = 0; i < 11; ++i) fields >> field;
  double user = 0;
  double system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

// The CPU time that an ingest of this folder on one thread still takes after it is asked to stop.
// It is suspended while it is asked, so that nothing else counts. nullopt if it had already
// finished.
std::optional<double> seconds_after_stop(const fs::path& set, const fs::path& cache) {
  const pid_t child =
      start({*program(), "ingest", set, "--out", cache, "--labels", "none", "--threads", "1"});
  constexpr double kBegun = 0.6;
  const auto is_at_work = [&] {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == 0;
  };
  while (is_at_work() && cpu_seconds_of(child) < kBegun) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ::kill(child, SIGSTOP);
  siginfo_t held{};
  ::waitid(P_PID, static_cast<id_t>(child), &held, WSTOPPED | WEXITED | WNOWAIT);
  const double before = cpu_seconds_of(child);
  ::kill(child, SIGTERM);
  ::kill(child, SIGCONT);
  const Ended ended = wait_for(child);
  EXPECT_TRUE(WIFEXITED(ended.status));
  if (WEXITSTATUS(ended.status) == 0) return std::nullopt;
  EXPECT_EQ(WEXITSTATUS(ended.status), 75);
  return ended.cpu_seconds() - before;
}

// The same for one picture. Repeated if the ingest had already finished.
double seconds_after_stop(const std::string& name, const std::function<std::string()>& make) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "set");
  static_cast<void>(made_apart([&] {
    write_new_file(folder / ("set/" + name), as_bytes(make()));
    return std::uint64_t{1};
  }));
  std::optional<double> seconds;
  for (int i = 0; i < 10 && !seconds; ++i) {
    seconds = seconds_after_stop(folder / "set", folder / ("cache" + std::to_string(i)));
  }
  EXPECT_TRUE(seconds) << name << " was done before it was stopped";
  std::printf("%s: %.2f s of CPU until it ended\n", name.c_str(), seconds.value_or(0));
  return seconds.value_or(0);
}

TEST(StoppedIngest, EndsWithinAPicture) {
  if (!program()) GTEST_SKIP() << "WINNOW does not say where the program is";
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr double kSeconds = 20;
#else
  constexpr double kSeconds = 2;
#endif
  EXPECT_LT(seconds_after_stop("scans.jpg",
                               [] {
                                 const std::string bytes =
                                     jpeg(3, {.plain_scans = true}).make(4000, 4000);
                                 const std::size_t end = bytes.rfind("\xff\xd9");
                                 const std::size_t scan = bytes.rfind("\xff\xda", end);
                                 std::string out = bytes.substr(0, end);
                                 for (int i = 0; i < 490; ++i) {
                                   out += bytes.substr(scan, end - scan);
                                 }
                                 return out + bytes.substr(end);
                               }),
            kSeconds);
  EXPECT_LT(seconds_after_stop("rows.png", [] { return zeros_png(12'000, 12'000, 12'000); }),
            kSeconds);
}

}  // namespace memory_limit_test
}  // namespace winnow::pipeline
