#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "common/file.h"

namespace winnow {

// Reads a matrix from a file of numpy.save(): formats 1.0, 2.0 and 3.0; f2, f4 or f8,
// little-endian, C order.
// Errors  FormatError for any other file, naming it and the problem; SystemError as InputFile.
// Source  numpy/lib/format.py.
class NpyMatrix {
 public:
  // remedy  Advice at the end of error messages; empty: to save it again with numpy.
  explicit NpyMatrix(const std::filesystem::path& path, std::string remedy = {});

  // Whether a file begins like a file of numpy.save(), in any version.
  static bool is_one(const std::filesystem::path& path);

  std::uint64_t rows() const noexcept { return rows_; }
  std::uint64_t columns() const noexcept { return columns_; }
  // Reads a row, rounded to f32, into `out`, which has columns() elements.
  void read(std::uint64_t row, std::span<float> out) const;

 private:
  [[noreturn]] void fail(const std::string& what) const;
  void parse(const std::string& header);

  InputFile file_;
  std::string remedy_;
  std::uint64_t begin_ = 0;  // offset of the numbers
  std::uint64_t rows_ = 0;
  std::uint64_t columns_ = 0;
  std::size_t element_bytes_ = 0;
};

// The header that numpy.save() writes for an f4 matrix: format 1.0, size a multiple of 64 bytes.
std::string npy_header(std::uint64_t rows, std::uint64_t columns);

}  // namespace winnow
