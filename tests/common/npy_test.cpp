#include "common/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "common/bytes.h"
#include "common/error.h"
#include "common/small_float.h"
#include "tests/common/temporary_folder.h"

namespace winnow::npy_test {

using testing::ElementsAre;
using testing::HasSubstr;

class Npy : public testing::Test {
 protected:
  // A file like that of numpy.save().
  template <class T>
  void save(const std::string& header, const std::vector<T>& values, int major = 1) {
    ByteWriter out;
    out.put_text("\x93NUMPY");
    out.put(static_cast<std::uint8_t>(major));
    out.put(std::uint8_t{0});
    if (major == 1) {
      out.put(static_cast<std::uint16_t>(header.size()));
    } else {
      out.put(static_cast<std::uint32_t>(header.size()));
    }
    out.put_text(header);
    out.put_bytes(std::as_bytes(std::span(values)));
    write_file_durably(path_, as_text(out.bytes()));
  }
  std::string refusal() const {
    try {
      const NpyMatrix matrix(path_);
    } catch (const FormatError& error) {
      return error.what();
    }
    return "taken";
  }
  std::vector<float> row(std::uint64_t row) const {
    const NpyMatrix matrix(path_);
    std::vector<float> values(matrix.columns());
    matrix.read(row, values);
    return values;
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "vectors.npy";
};

std::string header(const std::string& type, const std::string& shape) {
  return "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }          \n";
}

TEST_F(Npy, ReadsEachTypeInEachFormat) {
  for (const int major : {1, 2, 3}) {
    save(header("<f4", "(2, 3)"), std::vector<float>{1, 2, 3, 4, 5, 6.5F}, major);
    EXPECT_THAT(row(1), ElementsAre(4, 5, 6.5F));
    save(header("<f8", "(3, 2)"), std::vector<double>{1, 2, 3, 4, 5, 0.1}, major);
    EXPECT_THAT(row(2), ElementsAre(5, 0.1F));
    save(header("<f2", "(1, 2)"), std::vector<F16>{to_f16(0.5F), to_f16(-2)}, major);
    EXPECT_THAT(row(0), ElementsAre(0.5F, -2));
  }
  EXPECT_TRUE(NpyMatrix::is_one(path_));
}

TEST_F(Npy, ReadsKeysInAnyOrder) {
  save(R"({"shape":(1,2),"fortran_order":False,"descr":"<f4"})", std::vector<float>{7, 8});
  EXPECT_THAT(row(0), ElementsAre(7, 8));
}

TEST_F(Npy, SaysWhatItDoesNotRead) {
  const std::vector<float> six{1, 2, 3, 4, 5, 6};
  const std::vector<std::pair<std::string, std::string>> bad = {
      {header(">f4", "(2, 3)"), "has elements of type >f4"},
      {header("<i4", "(2, 3)"), "has elements of type <i4"},
      {header("|O", "(2, 3)"), "has elements of type |O"},
      {header("<f4", "(6,)"), "has the shape (6,) and is not a matrix"},
      {header("<f4", "()"), "is not a matrix"},
      {header("<f4", "(1, 2, 3)"), "has the shape (1,2,3) and is not a matrix"},
      {header("<f4", "(-2, 3)"), "is not a matrix"},
      {header("<f4", "(2, 4)"), "has fewer or more bytes than its shape needs"},
      {header("<f4", "(2, 2)"), "has fewer or more bytes than its shape needs"},
      {header("<f4", "(4611686018427387904, 4)"), "has fewer or more bytes"},
      {header("<f4", "(99999999999999999999, 4)"), "is not a matrix"},
      {"{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", "is stored in Fortran order"},
      {"{'descr': '<f4', 'shape': (2, 3), }", "has an invalid header"},
      {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (6,)}", "has an invalid header"},
      {"{'descr': '<f4', 'descr': '<f4', 'shape': (2, 3)}", "has an invalid header"},
      {"{'descr", "has an invalid header"},
      {"", "has an invalid header"},
      {header("<f4", "(2, 3)") + "}", "has an invalid header"}};
  for (const auto& [text, why] : bad) {
    save(text, six);
    EXPECT_THAT(refusal(), HasSubstr(path_.string() + " "));
    EXPECT_THAT(refusal(), HasSubstr(why)) << text;
    EXPECT_THAT(refusal(), HasSubstr("numpy.save("));
  }
  save(header("<f4", "(2, 3)"), six, 4);
  EXPECT_THAT(refusal(), HasSubstr("is of format 4"));
  write_file_durably(path_, "PK\x03\x04 and so on");
  EXPECT_THAT(refusal(), HasSubstr("was not written by numpy.save()"));
  EXPECT_FALSE(NpyMatrix::is_one(path_));
}

TEST_F(Npy, RefusesEveryCut) {
  save(header("<f4", "(2, 3)"), std::vector<float>{1, 2, 3, 4, 5, 6});
  const std::string whole = read_text(path_);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write_file_durably(path_, whole.substr(0, size));
    EXPECT_NE(refusal(), "taken") << size;
  }
}

TEST_F(Npy, HeadersAreThoseOfNumpy) {
  std::string expected("\x93NUMPY\x01\x00\x76\x00", 10);
  expected += "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  expected += std::string(127 - expected.size(), ' ') + '\n';
  EXPECT_EQ(npy_header(2, 3), expected);
  for (const std::uint64_t rows : {1U, 12345U, 4000000000U}) {
    EXPECT_EQ(npy_header(rows, 3).size() % 64, 0U);
  }
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  std::string file = npy_header(2, 3);
  file += as_text(as_bytes(values));
  write_file_durably(path_, file);
  EXPECT_THAT(row(1), ElementsAre(4, 5, 6));
}

}  // namespace winnow::npy_test
