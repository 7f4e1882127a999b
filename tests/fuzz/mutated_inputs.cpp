#include "tests/fuzz/mutated_inputs.h"

#include <archive_entry.h>
#include <zlib.h>

// jpeglib.h needs FILE.
// clang-format off
#include <cstdio>
#include <jpeglib.h>
// clang-format on

#include <algorithm>
#include <array>
#include <cstdlib>
#include <random>
#include <string_view>

#include "common/crc32c.h"
#include "tests/common/deflate.h"
#include "tests/common/formula_images.h"
#include "tests/common/opencv_codecs.h"
#include "tests/datasets/tar_maker.h"
#include "tests/datasets/wire_writer.h"

namespace winnow::test {
namespace {

constexpr int kWidth = 45;
constexpr int kHeight = 34;

std::string text_of(const auto& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct JpegKind {
  int channels = 3;
  bool progressive = false;
  bool arithmetic = false;
  bool subsampled = true;
  unsigned restart_rows = 0;
};

std::string jpeg_of(const JpegKind& kind) {
  const Image image = formula_image("tri", kWidth, kHeight);
  jpeg_compress_struct codec{};
  jpeg_error_mgr errors{};
  codec.err = jpeg_std_error(&errors);
  jpeg_create_compress(&codec);
  unsigned char* buffer = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&codec, &buffer, &size);
  codec.image_width = kWidth;
  codec.image_height = kHeight;
  codec.input_components = kind.channels;
  codec.in_color_space = kind.channels == 1   ? JCS_GRAYSCALE
                         : kind.channels == 3 ? JCS_RGB
                                              : JCS_CMYK;
  jpeg_set_defaults(&codec);
  if (!kind.subsampled) codec.comp_info[0].h_samp_factor = codec.comp_info[0].v_samp_factor = 1;
  codec.arith_code = kind.arithmetic ? TRUE : FALSE;
  codec.restart_in_rows = static_cast<int>(kind.restart_rows);
  if (kind.progressive) jpeg_simple_progression(&codec);
  jpeg_start_compress(&codec, TRUE);
  while (codec.next_scanline < codec.image_height) {
    // Any bytes will do: rows of grey and of inks come from the same picture.
    std::vector<std::uint8_t> row(kWidth * 4);
    std::copy_n(image.pixels.begin() + codec.next_scanline * kWidth * 3, kWidth * 3, row.begin());
    std::uint8_t* rows = row.data();
    jpeg_write_scanlines(&codec, &rows, 1);
  }
  jpeg_finish_compress(&codec);
  std::string bytes(reinterpret_cast<const char*>(buffer), size);
  jpeg_destroy_compress(&codec);
  std::free(buffer);
  return bytes;
}

// Encodes a formula picture with OpenCV, whatever its type.
std::string encode(const std::string& ending, int type, const std::vector<int>& options = {}) {
  const Image image = formula_image("blob", 8 * kWidth, kHeight);
  cv::Mat mat(kHeight, kWidth, type);
  std::copy_n(image.pixels.begin(), mat.total() * mat.elemSize(), mat.data);
  std::vector<std::uint8_t> bytes;
  opencv_encode(ending, mat, bytes, options);
  return text_of(bytes);
}

std::string big_endian(std::uint32_t value) {
  std::string bytes(4, '\0');
  for (int i = 3; i >= 0; --i, value >>= 8)
    bytes[static_cast<std::size_t>(i)] = static_cast<char>(value & 255);
  return bytes;
}

std::string png_chunk(const std::string& body) {  // `body` begins with the type
  const auto crc =
      crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return big_endian(static_cast<std::uint32_t>(body.size() - 4)) + body +
         big_endian(static_cast<std::uint32_t>(crc));
}

const std::string kPngMagic = "\x89PNG\r\n\x1a\n";

std::string palette_png(std::uint32_t width, std::uint32_t height) {
  using namespace std::string_literals;
  std::string rows;
  for (int y = 0; y < kHeight; ++y) {
    rows += '\0';
    for (int x = 0; x < kWidth; ++x) rows += static_cast<char>((x + y) % 4);
  }
  return kPngMagic +
         png_chunk("IHDR" + big_endian(width) + big_endian(height) + "\x08\x03\0\0\0"s) +
         png_chunk("PLTE" + std::string("abcdefghijkl")) + png_chunk("tRNS\x80\xff"s) +
         png_chunk("IDAT" + deflated(rows)) + png_chunk("IEND");
}

const MadeFile& named(const std::vector<MadeFile>& files, const std::string& name) {
  return *std::find_if(files.begin(), files.end(),
                       [&](const MadeFile& f) { return f.name == name; });
}

// Writes two numbers into a copy, each in `bytes` bytes.
void put_number(std::string& to, std::size_t at, std::uint32_t value, int bytes, bool big) {
  for (int i = 0; i < bytes; ++i) {
    const int shift = 8 * (big ? bytes - 1 - i : i);
    to.at(at + static_cast<std::size_t>(i)) = static_cast<char>(value >> shift & 255);
  }
}

// The position of the value of a TIFF entry with this tag. The file is little-endian, as written by
// OpenCV.
std::size_t tiff_value(const std::string& tiff, int tag) {
  for (const char kind : {'\3', '\4'}) {
    const std::string entry{static_cast<char>(tag & 255),
                            static_cast<char>(tag >> 8),
                            kind,
                            '\0',
                            '\1',
                            '\0',
                            '\0',
                            '\0'};
    if (const std::size_t at = tiff.find(entry); at != tiff.npos) return at + 8;
  }
  throw std::logic_error("no such entry in this TIFF");
}

// Valid files whose headers promise `side` x `side` pixels.
std::vector<MadeFile> promising(const std::vector<MadeFile>& sound, std::uint32_t side) {
  std::vector<MadeFile> files;
  const auto patched = [&](const std::string& name, auto patch) {
    MadeFile file = named(sound, name);
    patch(file.bytes);
    files.push_back(std::move(file));
  };
  for (const char* name : {"base.jpg", "progressive.jpg", "gray.jpg", "cmyk.jpg"}) {
    patched(name, [&](std::string& b) {
      const std::size_t frame = std::min(b.find("\xff\xc0"), b.find("\xff\xc2"));
      put_number(b, frame + 5, side, 2, true);
      put_number(b, frame + 7, side, 2, true);
    });
  }
  patched("base.bmp", [&](std::string& b) {
    put_number(b, 18, side, 4, false);
    put_number(b, 22, side, 4, false);
  });
  patched("lossless.webp", [&](std::string& b) {  // 14 bits each
    put_number(b, 21, 0x0FFFFFFF, 4, false);
  });
  for (const char* name : {"lzw.tif", "plain.tiff"}) {
    patched(name, [&](std::string& b) {
      put_number(b, tiff_value(b, 256), side, 2, false);
      put_number(b, tiff_value(b, 257), side, 2, false);
    });
  }
  files.push_back({"palette.png", palette_png(side, side)});
  const std::string size = " " + std::to_string(side) + " " + std::to_string(side);
  for (const char* kind : {"P1", "P4"}) files.push_back({"bits.pgm", kind + size + "\n1111"});
  for (const char* kind : {"P2", "P3", "P5", "P6"}) {
    files.push_back({"bytes.ppm", kind + size + " 255\n1111"});
  }
  return files;
}

// A progressive JPEG with its last scan repeated a thousand times.
std::string thousand_scans(const std::string& progressive) {
  const std::size_t end = progressive.rfind("\xff\xd9");
  const std::size_t scan = progressive.rfind("\xff\xda", end);
  std::string bytes = progressive.substr(0, scan);
  for (int i = 0; i < 1000; ++i) bytes += progressive.substr(scan, end - scan);
  return bytes + progressive.substr(end);
}

class Mutator {
 public:
  Mutator(std::uint64_t seed, std::vector<MadeFile>& out) : random_(seed), out_(out) {}

  // Adds a file under a unique name with the same ending.
  void add(const std::string& name, std::string bytes) {
    const std::string number = std::to_string(100'000 + out_.size());
    out_.push_back({number + name.substr(name.find('.')), std::move(bytes)});
  }
  std::uint64_t below(std::uint64_t end) { return random_() % end; }

  std::string noise(std::size_t size) {
    std::string bytes(size, '\0');
    for (char& c : bytes) c = static_cast<char>(random_());
    return bytes;
  }

  void cut_at_every_sixteenth(const MadeFile& file) {
    for (std::size_t part = 1; part < 16; ++part) {
      add(file.name, file.bytes.substr(0, file.bytes.size() * part / 16));
    }
  }

  // Half of the flips are in the first bytes, where the structure is.
  void flip_bits(const MadeFile& file, int times) {
    for (int i = 0; i < times; ++i) {
      std::string bytes = file.bytes;
      const std::uint64_t reach =
          i % 2 == 0 ? std::min<std::size_t>(128, bytes.size()) : bytes.size();
      for (int flips = i % 3 == 0 ? 4 : 1; flips > 0; --flips) {
        bytes[below(reach)] ^= static_cast<char>(1u << below(8));
      }
      add(file.name, std::move(bytes));
    }
  }

  // Writes noise, zeros, ones or another part of the file over it, or inserts it.
  void scatter(const MadeFile& file, int times) {
    for (int i = 0; i < times; ++i) {
      std::string bytes = file.bytes;
      const std::size_t length = 1 + below(std::min<std::size_t>(64, bytes.size()));
      const std::size_t at = below(bytes.size() - length + 1);
      std::string run = noise(length);
      const auto kind = below(4);
      if (kind == 1) run.assign(length, '\0');
      if (kind == 2) run.assign(length, '\xff');
      if (kind == 3) run = bytes.substr(below(bytes.size() - length + 1), length);
      bytes.replace(at, below(4) == 0 ? 0 : length, run);
      add(file.name, std::move(bytes));
    }
  }

 private:
  std::mt19937_64 random_;
  std::vector<MadeFile>& out_;
};

using datasets::MadeMember;

std::string small_jpeg(int i) {
  std::string bytes = jpeg_of({});
  bytes.insert(bytes.size() - 2, std::string(static_cast<std::size_t>(i), '\0'));  // all different
  return bytes;
}

std::string tar(const std::vector<MadeMember>& members, int filter = ARCHIVE_FILTER_NONE) {
  return datasets::make_tar(members, {ARCHIVE_FORMAT_TAR_PAX_RESTRICTED, filter});
}

std::vector<MadeMember> photos() {
  return {{"train/cat/1.jpg", small_jpeg(1)},
          {"train/dog/2.jpg", small_jpeg(2)},
          {"test/cat/3.png", palette_png(kWidth, kHeight)},
          {"test/dog/4.jpg", small_jpeg(4)}};
}

std::string tfrecord() {
  const auto masked = [](const std::string& bytes) {
    Crc32c crc;
    crc.update(as_bytes(bytes));
    return little_endian(crc.masked());
  };
  std::string file;
  for (int i = 0; i < 3; ++i) {
    const std::string image =
        bytes_field(1, bytes_field(1, std::string("image/encoded")) +
                           bytes_field(2, bytes_field(1, bytes_field(1, small_jpeg(i)))));
    const std::string label =
        bytes_field(1, bytes_field(1, std::string("image/class/label")) +
                           bytes_field(2, bytes_field(3, bytes_field(1, varint(1)))));
    const std::string data = bytes_field(1, image + label);
    const std::string size = little_endian<std::uint64_t>(data.size());
    file += size + masked(size) + data + masked(data);
  }
  return file;
}

std::string recordio() {
  std::string file;
  for (int i = 0; i < 3; ++i) {
    const std::string data = little_endian<std::uint32_t>(0) + little_endian(1.0F) +
                             little_endian(static_cast<std::uint64_t>(i)) +
                             little_endian<std::uint64_t>(0) + small_jpeg(i);
    file += little_endian<std::uint32_t>(0xCED7230A) +
            little_endian(static_cast<std::uint32_t>(data.size())) + data +
            std::string((4 - data.size() % 4) % 4, '\0');
  }
  return file;
}

}  // namespace

std::vector<MadeFile> sound_archives() {
  const std::vector<MadeMember> samples{{"000.jpg", small_jpeg(1)},
                                        {"000.cls", "1"},
                                        {"001.jpg", small_jpeg(2)},
                                        {"001.json", R"({"label": 2})"}};
  return {{"photos.tar", tar(photos())},
          {"photos.tar.gz", tar(photos(), ARCHIVE_FILTER_GZIP)},
          {"photos.tar.xz", tar(photos(), ARCHIVE_FILTER_XZ)},
          {"photos.tar.zst", tar(photos(), ARCHIVE_FILTER_ZSTD)},
          {"nested.tar", tar({{"n01.tar", tar(photos())}, {"n02.tar", tar(photos())}})},
          {"samples.tar", tar(samples)},
          {"photos.tfrecord", tfrecord()},
          {"photos.rec", recordio()}};
}

namespace {

// Members that would do harm if they were unpacked.
std::vector<std::vector<MadeMember>> hostile_members() {
  const std::string photo = small_jpeg(9);
  return {
      {{"../out.jpg", photo}, {"../../../../../../out.jpg", photo}, {"a/../../out2.jpg", photo}},
      {{"/out.jpg", photo}, {"//tmp//out.jpg", photo}, {"/etc/passwd.png", photo}},
      {{"a.jpg", "", AE_IFLNK, "/etc/passwd"}, {"b.jpg", photo}},
      {{"d", "", AE_IFLNK, ".."}, {"d/out.jpg", photo}, {"b.jpg", photo}},
      {{"b.jpg", photo}, {"c.jpg", "", AE_IFREG, "b.jpg"}, {"e.jpg", "", AE_IFREG, "../../x.jpg"}},
      {{"pipe.jpg", "", AE_IFIFO}, {"device.jpg", "", AE_IFCHR}, {"b.jpg", photo}},
      {{"b.jpg/c.jpg", photo}, {"b.jpg", photo}, {"b.jpg", photo + photo}},
      {{"-rf.jpg", photo}, {" .jpg", photo}, {"new\nline.jpg", photo}, {"\xff\xfe.jpg", photo}},
      {{std::string(200, 'n') + "/" + std::string(240, 'm') + ".jpg", photo}, {"empty.jpg", ""}},
      {{".jpg", photo}, {"..jpg", photo}, {"a/.jpg", photo}, {"x..jpg", photo}},
  };
}

std::string sized(const std::string& octal, const std::string& content) {
  return datasets::tar_header("a.jpg", octal) + content +
         std::string(1024 - content.size() % 512, '\0');
}

void add_hostile_archives(Mutator& make) {
  const std::string photo = small_jpeg(9);
  for (const auto& members : hostile_members()) {
    for (const int filter : {ARCHIVE_FILTER_NONE, ARCHIVE_FILTER_GZIP}) {
      make.add(filter == ARCHIVE_FILTER_NONE ? "a.tar" : "a.tar.gz", tar(members, filter));
    }
  }
  // Sizes that differ from those of the members: small, large, not numbers, the largest possible.
  for (const char* size : {"00000000001", "00000007777", "77777777777", "-0000000001",
                           "99999999999", "           ", "zzzzzzzzzzz"}) {
    make.add("size.tar", sized(size, photo));
    make.add("sizes.tar", sized(size, photo) + tar({{"b.jpg", photo}}));
  }
  make.add("base256.tar", sized("\x80\x7f\xff\xff\xff\xff\xff\xff\xff\xff\xff", photo));
  make.add("base256.tar", sized("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", photo));
  // Bombs: zeros that are no archive, and an archive of them.
  const std::string zeros(24u << 20, '\0');
  make.add("zeros.tar.gz", deflated(zeros, {.window_bits = kGzipStream}));
  make.add("zeros.tar.gz", tar({{"b.jpg", photo}, {"zeros.jpg", zeros}}, ARCHIVE_FILTER_GZIP));
  make.add("zeros.tar.gz",
           tar({{"b.jpg", photo}, {"zeros.tar", tar({{"z.jpg", zeros}})}}, ARCHIVE_FILTER_GZIP));
  make.add("zeros.tar.xz", tar({{"zeros.txt", zeros}}, ARCHIVE_FILTER_XZ));
  // Names of one kind with the bytes of another.
  for (const MadeFile& file : sound_archives()) {
    for (const char* name :
         {"x.tar", "x.tar.gz", "x.tfrecord", "x.rec", "x.csv", "x.lst", "x.mat"}) {
      make.add(name, file.bytes);
    }
  }
  for (const char* name : {"x.tar", "x.tar.gz", "x.tfrecord", "x.rec", "x.csv", "x.lst"}) {
    make.add(name, "");
    make.add(name, std::string(4096, '\0'));
    for (int i = 0; i < 3; ++i) make.add(name, make.noise(1 + make.below(3000)));
  }
}

}  // namespace

std::vector<MadeFile> sound_images() {
  const Image image = formula_image("tri", kWidth, kHeight);
  std::string bitmap;
  for (int i = 0; i < kHeight * 6; ++i) bitmap += static_cast<char>(i * 37);
  std::string words;
  for (int i = 0; i < 12; ++i) words += std::to_string(i * 20) + (i % 4 == 3 ? "\n" : " ");
  const std::string size = std::to_string(kWidth) + " " + std::to_string(kHeight);
  return {{"base.jpg", jpeg_of({})},
          {"full.jpg", jpeg_of({.subsampled = false})},
          {"restart.jpeg", jpeg_of({.restart_rows = 1})},
          {"progressive.jpg", jpeg_of({.progressive = true})},
          {"gray.jpg", jpeg_of({.channels = 1})},
          {"cmyk.jpg", jpeg_of({.channels = 4})},
          {"arithmetic.jpg", jpeg_of({.arithmetic = true})},
          {"both.jpg", jpeg_of({.progressive = true, .arithmetic = true})},
          {"rgb.png", encode(".png", CV_8UC3)},
          {"deep.png", encode(".png", CV_16UC3)},
          {"alpha.png", encode(".png", CV_8UC4)},
          {"gray.png", encode(".png", CV_8UC1)},
          {"bits.png", encode(".png", CV_8UC1, {cv::IMWRITE_PNG_BILEVEL, 1})},
          {"palette.png", palette_png(kWidth, kHeight)},
          {"base.bmp", encode(".bmp", CV_8UC3)},
          {"gray.bmp", encode(".bmp", CV_8UC1)},
          {"lossy.webp", encode(".webp", CV_8UC3, {cv::IMWRITE_WEBP_QUALITY, 80})},
          {"lossless.webp", encode(".webp", CV_8UC3, {cv::IMWRITE_WEBP_QUALITY, 101})},
          {"alpha.webp", encode(".webp", CV_8UC4, {cv::IMWRITE_WEBP_QUALITY, 101})},
          {"lzw.tif", encode(".tif", CV_8UC3)},
          {"plain.tiff", encode(".tif", CV_8UC3, {cv::IMWRITE_TIFF_COMPRESSION, 1})},
          {"deep.tif", encode(".tif", CV_16UC1)},
          {"gray.pgm", "P5 " + size + " 255\n" + text_of(image.pixels).substr(0, kWidth * kHeight)},
          {"rgb.ppm", "P6 " + size + " 255\n" + text_of(image.pixels)},
          {"bits.pgm", "P4 " + size + "\n" + bitmap},
          {"text.ppm", "P3 2 2 255\n" + words}};
}

std::vector<MadeFile> mutated_images(std::uint64_t seed) {
  constexpr std::array kEndings{".jpg", ".jpeg", ".png", ".bmp", ".webp",
                                ".tif", ".tiff", ".ppm", ".pgm"};
  const std::vector<MadeFile> sound = sound_images();
  std::vector<MadeFile> out;
  Mutator make(seed, out);
  for (const MadeFile& file : sound) {
    make.add(file.name, file.bytes);
    make.cut_at_every_sixteenth(file);
    make.flip_bits(file, 120);
    make.scatter(file, 50);
    for (const char* ending : kEndings) make.add(ending, file.bytes);
    make.add(file.name, file.bytes + sound[make.below(sound.size())].bytes);
  }
  for (const std::uint32_t side : {65'500U, 65'535U, 30'000U, 0U}) {
    for (const MadeFile& file : promising(sound, side)) make.add(file.name, file.bytes);
  }
  make.add(".jpg", thousand_scans(named(sound, "progressive.jpg").bytes));
  make.add(".jpg", thousand_scans(named(sound, "both.jpg").bytes));
  for (const char* ending : kEndings) {
    make.add(ending, "");
    make.add(ending, std::string(1000, '\0'));
    for (int i = 0; i < 20; ++i) {
      // Usually after the first bytes of a valid file.
      const std::size_t head = make.below(24);
      make.add(ending, sound[make.below(sound.size())].bytes.substr(0, head) +
                           make.noise(make.below(2000)));
    }
  }
  return out;
}

std::vector<MadeFile> mutated_archives(std::uint64_t seed) {
  std::vector<MadeFile> out;
  Mutator make(seed, out);
  for (const MadeFile& file : sound_archives()) {
    make.add(file.name, file.bytes);
    make.cut_at_every_sixteenth(file);
    make.flip_bits(file, 40);
    make.scatter(file, 25);
  }
  add_hostile_archives(make);
  return out;
}

}  // namespace winnow::test
