#include "common/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

#include "common/csv.h"
#include "common/error.h"
#include "tests/common/temporary_folder.h"

namespace winnow::file_test {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

template <class Action>
std::string system_error_of(Action action) {
  try {
    action();
  } catch (const SystemError& error) {
    return error.what();
  }
  return "no error";
}

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(File, WhatIsWrittenIsReadBack) {
  const TemporaryFolder folder;
  std::string text("line\n\0line", 10);
  write_file_durably(folder / "a", text);
  EXPECT_EQ(read_text(folder / "a"), text);
  EXPECT_EQ(as_text(read_file(folder / "a")), text);
  text.assign(3 << 20, 'x');
  write_file_durably(folder / "a", text);
  EXPECT_EQ(read_text(folder / "a"), text);
  write_file_durably(folder / "a", "");
  EXPECT_TRUE(read_file(folder / "a").empty());
  EXPECT_EQ(files_in(folder.path()), 1U);  // no temporary file remains
}

TEST(File, ErrorsNameThePathAndTheReason) {
  const TemporaryFolder folder;
  const fs::path missing = folder / "no/such";
  const auto names_it = AllOf(HasSubstr(missing.string()), HasSubstr("No such file"));
  EXPECT_THAT(system_error_of([&] { read_file(missing); }), names_it);
  EXPECT_THAT(system_error_of([&] { read_text(missing); }), names_it);
  EXPECT_THAT(system_error_of([&] { write_file_durably(missing, "x"); }), names_it);
  EXPECT_THAT(system_error_of([&] { fsync_file(missing); }), names_it);
  EXPECT_THAT(system_error_of([&] { fsync_directory(missing); }), names_it);
  EXPECT_THAT(system_error_of([&] { free_bytes(missing); }), names_it);
  EXPECT_THAT(system_error_of([&] { MappedFile{missing}; }), names_it);
  EXPECT_THAT(system_error_of([&] { replace_symlink(missing, "x"); }), names_it);
}

// Limits the files of this process to `bytes`: a larger write fails after part of it is done.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST(File, AFailedWriteLeavesTheOldBytes) {
  const TemporaryFolder folder;
  write_file_durably(folder / "a", "old");
  std::string error;
  {
    const FileSizeLimit limit(1000);
    error = system_error_of([&] { write_file_durably(folder / "a", std::string(5000, 'n')); });
  }
  EXPECT_THAT(error, AllOf(HasSubstr((folder / "a").string()), HasSubstr("File too large")));
  EXPECT_EQ(read_text(folder / "a"), "old");
  EXPECT_EQ(files_in(folder.path()), 1U);
}

struct Mounted {
  explicit Mounted(const fs::path& where)
      : path(where), good(::mount("winnow", path.c_str(), "tmpfs", 0, "size=64k") == 0) {}
  ~Mounted() {
    if (good) ::umount2(path.c_str(), MNT_DETACH);
  }
  Mounted(const Mounted&) = delete;
  Mounted& operator=(const Mounted&) = delete;

  fs::path path;
  bool good;
};

TEST(File, AFullDiskLeavesTheOldBytes) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "small");
  const Mounted disk(folder / "small");
  if (!disk.good) GTEST_SKIP() << "cannot mount a small tmpfs here: " << std::strerror(errno);
  const fs::path path = disk.path / "a";
  write_file_durably(path, "old");
  EXPECT_LE(free_bytes(disk.path), 64U << 10);
  EXPECT_THAT(system_error_of([&] { write_file_durably(path, std::string(200 << 10, 'n')); }),
              AllOf(HasSubstr(path.string()), HasSubstr("No space left")));
  EXPECT_EQ(read_text(path), "old");
  EXPECT_EQ(files_in(disk.path), 1U);
  write_file_durably(path, std::string(20 << 10, 'n'));  // there is room again
  EXPECT_EQ(read_text(path).size(), 20U << 10);
}

TEST(File, IsReadInPieces) {
  const TemporaryFolder folder;
  std::string text;
  while (text.size() < 2'500'000) text += std::to_string(text.size());
  write_file_durably(folder / "a", text);
  const InputFile file(folder / "a");
  ASSERT_EQ(file.size(), text.size());
  Bytes some(1000);
  for (const std::size_t at : {std::size_t{0}, std::size_t{77}, text.size() - 1000}) {
    file.read_at(at, some);
    EXPECT_EQ(as_text(some), text.substr(at, 1000));
  }
  const auto cut_short = AllOf(HasSubstr((folder / "a").string()), HasSubstr("cut short"));
  EXPECT_THAT(system_error_of([&] { file.read_at(text.size() - 999, some); }), cut_short);
  EXPECT_EQ(xxh3_128(file), xxh3_128(as_bytes(text)));
  const std::size_t end = text.size() - 3;
  for (const std::size_t begin : {std::size_t{0}, std::size_t{5}, end - 1, end}) {
    std::string read;
    for_each_piece(file, begin, end, [&](BytesView piece) {
      EXPECT_LE(piece.size(), 1U << 20);
      read += as_text(piece);
    });
    EXPECT_TRUE(read == text.substr(begin, end - begin)) << begin;
  }
  fs::resize_file(folder / "a", 2'000'000);
  EXPECT_THAT(system_error_of([&] { xxh3_128(file); }), cut_short);
}

TEST(File, ADurableFileIsThereWhenItIsFinished) {
  const TemporaryFolder folder;
  const fs::path path = folder / "a";
  write_file_durably(path, "old");
  {
    DurableFile file(path);
    file.append(as_bytes("never finished"));
    EXPECT_EQ(read_text(path), "old");
  }
  EXPECT_EQ(files_in(folder.path()), 1U);
  std::string want;
  DurableFile first(path);
  for (int i = 0; want.size() < 3'000'000; ++i) {
    const std::string text(static_cast<std::size_t>(i), static_cast<char>('a' + i % 26));
    first.append(as_bytes(text));
    want += text;
  }
  DurableFile file = std::move(first);  // including its buffer
  file.write_at(10, as_bytes("in the midst"));
  want.replace(10, 12, "in the midst");
  const InputFile written = file.written();
  EXPECT_EQ(xxh3_128(written), xxh3_128(as_bytes(want)));
  file.append(as_bytes("end"));
  EXPECT_EQ(read_text(path), "old");
  file.finish();
  EXPECT_TRUE(read_text(path) == want + "end");
  EXPECT_EQ(files_in(folder.path()), 1U);
}

TEST(File, AScratchFileHasNoName) {
  const TemporaryFolder folder;
  ::setenv("TMPDIR", folder.path().c_str(), 1);
  ScratchFile scratch;
  scratch.append(as_bytes("some"));
  scratch.append(as_bytes(" bytes"));
  EXPECT_EQ(files_in(folder.path()), 0U);
  const InputFile file = std::move(scratch).read();
  Bytes all(file.size());
  file.read_at(0, all);
  EXPECT_EQ(as_text(all), "some bytes");
  ::setenv("TMPDIR", (folder / "none").c_str(), 1);
  EXPECT_THAT(system_error_of([] { ScratchFile(); }), HasSubstr("TMPDIR"));
  ::unsetenv("TMPDIR");
}

TEST(File, MappedFilesHoldTheBytes) {
  const TemporaryFolder folder;
  const std::string text(10000, 'm');
  write_file_durably(folder / "a", text);
  const MappedFile file(folder / "a");
  EXPECT_EQ(as_text(file.bytes()), text);
  fs::remove(folder / "a");
  EXPECT_EQ(as_text(file.bytes()), text);
  write_file_durably(folder / "empty", "");
  EXPECT_TRUE(MappedFile(folder / "empty").bytes().empty());
}

// A pipe and, if this user may create one, a device (like /dev/null, in the test's folder).
std::vector<fs::path> special_files(const TemporaryFolder& folder) {
  std::vector<fs::path> made;
  const auto add = [&](const fs::path& path, int failed) {
    if (failed == 0) made.push_back(path);
  };
  add(folder / "pipe", ::mkfifo((folder / "pipe").c_str(), 0666));
  add(folder / "device", ::mknod((folder / "device").c_str(), S_IFCHR | 0666, makedev(1, 3)));
  return made;
}

TEST(File, OnlyRegularFilesAreRead) {
  const TemporaryFolder folder;
  const std::vector<fs::path> special = special_files(folder);
  ASSERT_FALSE(special.empty());
  for (const fs::path& path : special) {
    const auto says_so = AllOf(HasSubstr(path.string()), HasSubstr("not a regular file"));
    EXPECT_THAT(system_error_of([&] { read_file(path); }), says_so);
    EXPECT_THAT(system_error_of([&] { read_text(path); }), says_so);
    EXPECT_THAT(system_error_of([&] { InputFile{path}; }), says_so);
    EXPECT_THAT(system_error_of([&] { MappedFile{path}; }), says_so);
  }
  EXPECT_THAT(system_error_of([&] { read_file(folder.path()); }), HasSubstr("not a regular file"));
}

TEST(File, WhatIsNoRegularFileIsNotReplaced) {
  const TemporaryFolder folder;
  std::vector<fs::path> special = special_files(folder);
  ASSERT_FALSE(special.empty());
  fs::create_symlink("pipe", folder / "link to pipe");
  fs::create_symlink("/proc/self/fd/2", folder / "link to what is open");
  special.insert(special.end(), {folder / "link to pipe", folder / "link to what is open"});
  for (const fs::path& path : special) {
    const fs::file_type before = fs::symlink_status(path).type();
    EXPECT_THROW(write_file_durably(path, "x"), UsageError) << path;
    EXPECT_THROW(DurableFile{path}, UsageError) << path;
    EXPECT_EQ(fs::symlink_status(path).type(), before) << path;
  }
  EXPECT_EQ(files_in(folder.path()), special.size()) << "a temporary file";
  write_file_durably(folder / "a", "old");
  fs::create_symlink("a", folder / "link");
  fs::create_symlink("nowhere", folder / "broken");
  for (const char* link : {"link", "broken"}) {
    write_file_durably(folder / link, "new");
    EXPECT_EQ(read_text(folder / link), "new");
  }
  EXPECT_EQ(read_text(folder / "a"), "old") << "the link is what is replaced";
}

TEST(File, LinksAreReplaced) {
  const TemporaryFolder folder;
  for (const char* target : {"step-1", "step-2", "step-2"}) {
    replace_symlink(folder / "latest", target);
    EXPECT_EQ(fs::read_symlink(folder / "latest"), target);
  }
  EXPECT_EQ(files_in(folder.path()), 1U);
}

TEST(File, DirectoriesAreMadeWithThoseAboveThem) {
  const TemporaryFolder folder;
  make_directories(folder / "a/b/c/");
  EXPECT_TRUE(fs::is_directory(folder / "a/b/c"));
  EXPECT_NO_THROW(make_directories(folder / "a/b"));
  fs::create_directory_symlink(folder / "a", folder / "link");
  make_directories(folder / "link/d");
  EXPECT_TRUE(fs::is_directory(folder / "a/d"));
  write_file_durably(folder / "file", "x");
  for (const char* path : {"file/e", "file"}) {
    EXPECT_THAT(system_error_of([&] { make_directories(folder / path); }),
                AllOf(HasSubstr((folder / "file").string()), HasSubstr("File exists")));
  }
}

TEST(File, ARenamedDirectoryReplacesOneThatIsThere) {
  const TemporaryFolder folder;
  for (const char* content : {"old", "new"}) {
    make_directories(folder / "part/sub");
    write_file_durably(folder / "part/sub/file", content);
    rename_directory(folder / "part", folder / "step");
    EXPECT_EQ(read_text(folder / "step/sub/file"), content);
    EXPECT_EQ(files_in(folder.path()), 1U);
  }
  EXPECT_THAT(system_error_of([&] { rename_directory(folder / "no", folder / "step"); }),
              HasSubstr((folder / "step").string()));
  EXPECT_EQ(read_text(folder / "step/sub/file"), "new");
}

TEST(File, WhatIsRemovedIsGone) {
  const TemporaryFolder folder;
  make_directories(folder / "a/b");
  write_file_durably(folder / "a/b/file", "x");
  fs::create_symlink(folder / "nowhere", folder / "link");
  EXPECT_THAT(system_error_of([&] { remove_file(folder / "a"); }),
              HasSubstr((folder / "a").string()));
  remove_file(folder / "a/b/file");
  EXPECT_EQ(files_in(folder / "a/b"), 0U);
  remove_tree(folder / "a");
  remove_file(folder / "link");
  EXPECT_EQ(files_in(folder.path()), 0U);
  EXPECT_NO_THROW(remove_file(folder / "a"));
  EXPECT_NO_THROW(remove_tree(folder / "a"));
}

TEST(File, AppendedTextComesAfterWhatIsThere) {
  const TemporaryFolder folder;
  for (const char* line : {"one\n", "two\n"}) {
    AppendFile file(folder / "log");
    file.append(line);
    EXPECT_THAT(read_text(folder / "log"), testing::EndsWith(line));  // not synced yet
    file.sync();
  }
  EXPECT_EQ(read_text(folder / "log"), "one\ntwo\n");
  AppendFile full("/dev/full");
  EXPECT_THAT(system_error_of([&] { full.append("x"); }),
              AllOf(HasSubstr("/dev/full"), HasSubstr("No space left")));
}

TEST(File, ADirectoryIsLockedOnce) {
  const TemporaryFolder folder;
  {
    const Fd held = lock_directory(folder.path());
    EXPECT_THROW(lock_directory(folder.path()), UsageError);  // even by the same process
  }
  EXPECT_NO_THROW(lock_directory(folder.path()));
}

TEST(Csv, QuotesOnlyWhatMustBeQuoted) {
  EXPECT_EQ(csv_field("plain name.jpg"), "plain name.jpg");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"cheese\""), "\"say \"\"cheese\"\"\"");
  EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
}

// Several writers of one path do not write into each other's files, and the last one wins.
TEST(DurableFile, WritersOfOnePathDoNotMeet) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "list.csv";
  {
    DurableFile first(path);
    DurableFile second(path);
    DurableFile third(path);
    const std::string one(100'000, '1');
    const std::string two(50'000, '2');
    first.append(as_bytes(one));
    second.append(as_bytes(two));
    third.append(as_bytes(std::string("given up")));
    first.finish();
    EXPECT_EQ(read_text(path), one);
    DurableFile fourth(path);  // takes the name that the first one had, not the second one's
    fourth.append(as_bytes(std::string("4")));
    second.finish();
    EXPECT_EQ(read_text(path), two);
    fourth.finish();
    EXPECT_EQ(read_text(path), "4");
  }
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path()))
    ++files;
  EXPECT_EQ(files, 1U);
  // A temporary file of a killed writer is reused.
  write_new_file(path.string() + ".tmp", as_bytes(std::string("left behind, and longer")));
  write_file_durably(path, "5");
  EXPECT_EQ(read_text(path), "5");
  EXPECT_FALSE(std::filesystem::exists(path.string() + ".tmp"));
}

}  // namespace winnow::file_test
