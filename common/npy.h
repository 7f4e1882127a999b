#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "common/file.h"

namespace winnow {

// A matrix of numbers in a file as numpy.save() writes it: formats 1.0, 2.0 and 3.0, f2, f4 or f8,
// little-endian, in C order. Throws FormatError, which names the file and what is wrong, for any
// other; SystemError as InputFile.
// Source: numpy/lib/format.py.
class NpyMatrix {
 public:
  // `remedy` is what messages say that one does about it; empty: to save it again by numpy.
  explicit NpyMatrix(const std::filesystem::path& path, std::string remedy = {});

  // Whether a file begins as one, whatever its version.
  static bool is_one(const std::filesystem::path& path);

  std::uint64_t rows() const noexcept { return rows_; }
  std::uint64_t columns() const noexcept { return columns_; }
  // Row `row`, its numbers rounded to f32; `out` has room for columns().
  void read(std::uint64_t row, std::span<float> out) const;

 private:
  [[noreturn]] void fail(const std::string& what) const;
  void parse(const std::string& header);

  InputFile file_;
  std::string remedy_;
  std::uint64_t begin_ = 0;  // of the numbers
  std::uint64_t rows_ = 0;
  std::uint64_t columns_ = 0;
  std::size_t element_bytes_ = 0;
};

// What numpy.save() writes before the numbers of a matrix of f4: format 1.0, a multiple of 64
// bytes.
std::string npy_header(std::uint64_t rows, std::uint64_t columns);

}  // namespace winnow
