#include "datasets/tar_file_writer.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "datasets/tar_file.h"
#include "tests/common/temporary_folder.h"

namespace winnow::datasets::tar_file_writer_test {

Bytes tar_of(const std::vector<std::pair<std::string, std::string>>& files) {
  Bytes out;
  TarFileWriter tar([&](BytesView bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); });
  for (const auto& [name, text] : files) tar.add(name, as_bytes(text));
  tar.finish();
  return out;
}

TEST(TarFileWriter, WritesWhatIsListed) {
  const std::vector<std::pair<std::string, std::string>> files{{"1.cls", "7"},
                                                               {"1.jpg", std::string(5000, 'x')},
                                                               {"empty", ""},
                                                               {"block", std::string(512, 'y')}};
  const TemporaryFolder folder;
  const Bytes bytes = tar_of(files);
  EXPECT_EQ(bytes, tar_of(files));
  write_file_durably(folder / "a.tar", bytes);
  const InputFile file(folder / "a.tar");
  std::vector<std::pair<std::string, std::string>> found;
  std::uint64_t planned = 0;
  const bool ended = list_tar(file, 0, file.size(), "a.tar", [&](const TarMember& member) {
    EXPECT_EQ(member.offset, planned + 512);
    planned += TarFileWriter::member_bytes(member.bytes);
    std::string text(member.bytes, ' ');
    file.read_at(member.offset, std::as_writable_bytes(std::span(text)));
    found.emplace_back(member.name, text);
    return true;
  });
  EXPECT_TRUE(ended);
  EXPECT_EQ(found, files);
}

TEST(TarFileWriter, RefusesNamesThatUstarCannotSay) {
  EXPECT_NO_THROW(tar_of({{std::string(100, 'a'), "x"}}));
  EXPECT_THROW(tar_of({{std::string(101, 'a'), "x"}}), Error);
  EXPECT_THROW(tar_of({{"caf\xE9", "x"}}), Error);
  EXPECT_THROW(tar_of({{"", "x"}}), Error);
}

TEST(TarFileWriter, ThrowsWhatItsSinkThrows) {
  TarFileWriter tar([](BytesView) { throw SystemError("full"); });
  EXPECT_THROW(
      {
        for (int i = 0; i < 100; ++i) tar.add("a", as_bytes(std::string(5000, 'x')));
      },
      SystemError);
}

}  // namespace winnow::datasets::tar_file_writer_test
