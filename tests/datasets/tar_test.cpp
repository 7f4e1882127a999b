#include "datasets/tar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "common/error.h"
#include "datasets/formats.h"
#include "datasets/tar_file.h"
#include "datasets/tar_set.h"
#include "tests/common/growth.h"
#include "tests/common/temporary_folder.h"
#include "tests/datasets/source_lines.h"
#include "tests/datasets/tar_maker.h"

namespace winnow::datasets::tar_test {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class TarTest : public testing::Test {
 protected:
  void add(const std::string& name, const std::string& bytes) const {
    write_bytes(folder_ / name, bytes);
  }
  std::unique_ptr<Source> open(const std::string& name, LabelsFrom labels = LabelsFrom::kAuto,
                               bool allow_empty = false) const {
    return open_source(folder_ / name,
                       {.format = "auto", .labels = labels, .allow_empty_classes = allow_empty});
  }
  std::string refusal(const std::string& name, const std::string& format = "tar") const {
    try {
      open_source(folder_ / name, {.format = format});
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  }

  TemporaryFolder folder_;
};

const std::vector<MadeMember> kTwoSplits{{"train/", "", AE_IFDIR},
                                         {"train/dog/2.jpg", "second"},
                                         {"train/cat/1.jpg", "first"},
                                         {"train/cat/notes.txt", "no image"},
                                         {"test/cat/3.png", std::string(70000, 'x')}};

TEST_F(TarTest, MembersAreFilesOfAnImageFolderInTheOrderOfTheArchive) {
  for (const int format : {ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FORMAT_TAR_PAX_RESTRICTED,
                           ARCHIVE_FORMAT_TAR_PAX_INTERCHANGE, ARCHIVE_FORMAT_TAR_GNUTAR}) {
    add("a.tar", make_tar(kTwoSplits, {format, ARCHIVE_FILTER_NONE}));
    const auto source = open("a.tar");
    EXPECT_EQ(source->format(), "tar");
    EXPECT_THAT(source->class_names(), ElementsAre("cat", "dog"));
    EXPECT_THAT(lines_of(*source),
                ElementsAre("train/dog/2.jpg train dog", "train/cat/1.jpg train cat",
                            "test/cat/3.png test cat"));
    EXPECT_EQ(source->description(),
              "tar: 2 splits, 2 classes; skipped: files that are not images (1: 1 .txt)");
    EXPECT_EQ(source->entries().input_bytes(0), 6U);
    EXPECT_EQ(content_of(*source, 0), "second");
    EXPECT_EQ(content_of(*source, 1), "first");
    EXPECT_EQ(content_of(*source, 2), std::string(70000, 'x'));
  }
}

TEST_F(TarTest, CompressedArchivesAreInflatedOnce) {
  for (const int filter : {ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_BZIP2, ARCHIVE_FILTER_XZ,
                           ARCHIVE_FILTER_ZSTD, ARCHIVE_FILTER_LZ4}) {
    add("any_name", make_tar(kTwoSplits, {ARCHIVE_FORMAT_TAR_USTAR, filter}));
    const auto source = open("any_name");
    EXPECT_EQ(lines_of(*source).size(), 3U) << filter;
    EXPECT_EQ(content_of(*source, 1), "first");
    EXPECT_EQ(content_of(*source, 2), std::string(70000, 'x'));
    EXPECT_THAT(source->description(), HasSubstr("inflated into a temporary file of 7"));
  }
}

TEST_F(TarTest, ManyThreadsReadAtOnce) {
  std::vector<MadeMember> members;
  for (int i = 0; i < 200; ++i) {
    members.push_back(
        {"c/" + std::to_string(i) + ".jpg", std::string(100 + i, static_cast<char>(i))});
  }
  add("a.tar", make_tar(members));
  const auto source = open("a.tar");
  ASSERT_EQ(source->entries().size(), 200U);
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (std::size_t i = 0; i < members.size(); ++i)
        wrong += content_of(*source, i) != members[i].content;
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

TEST_F(TarTest, LongNamesOfEveryKind) {
  const std::string deep = std::string(90, 'd') + "/" + std::string(80, 'e');
  const std::string longest = deep + "/" + std::string(200, 'n') + ".jpg";
  for (const int format : {ARCHIVE_FORMAT_TAR_PAX_RESTRICTED, ARCHIVE_FORMAT_TAR_GNUTAR}) {
    add("a.tar", make_tar({{"a/1.jpg", "one"}, {longest, "two"}, {"a/3.jpg", "three"}},
                          {format, ARCHIVE_FILTER_NONE}));
    const auto source = open("a.tar", LabelsFrom::kNone);
    ASSERT_EQ(source->entries().size(), 3U);
    EXPECT_EQ(source->entries()[1].name, longest);
    EXPECT_EQ(content_of(*source, 1), "two");
    EXPECT_EQ(content_of(*source, 2), "three");
  }
}

TEST_F(TarTest, NamesAreBytes) {
  add("a.tar",
      make_tar({{"\xC3\xA4/\xF0\x9F\x90\xB1.jpg"}, {"\xE4/latin.jpg"}, {"b/new\nline.jpg"}},
               {ARCHIVE_FORMAT_TAR_GNUTAR, ARCHIVE_FILTER_NONE}));
  EXPECT_THAT(lines_of(*open("a.tar")),
              ElementsAre("\xC3\xA4/\xF0\x9F\x90\xB1.jpg none \xC3\xA4", "\xE4/latin.jpg none \xE4",
                          "b/new\nline.jpg none b"));
  const std::string pax = "27 path=\xC3\xA4\xC3\xB6/\xE7\x8C\xAB_cat__.jpg\n";
  ASSERT_EQ(pax.size(), 27U);
  add("b.tar", tar_header("x", "00000000033", 'x') + pax + std::string(512 - pax.size(), '\0') +
                   tar_header("y", "00000000003") + "abc" + std::string(509 + 1024, '\0'));
  const auto source = open("b.tar");
  EXPECT_EQ(source->entries()[0].name, "\xC3\xA4\xC3\xB6/\xE7\x8C\xAB_cat__.jpg");
  EXPECT_EQ(content_of(*source, 0), "abc");
}

TEST_F(TarTest, NamesLeadNowhere) {
  EXPECT_EQ(tar_name("/etc//passwd"), "etc/passwd");
  EXPECT_EQ(tar_name("../../a/./b/../c.jpg"), "a/c.jpg");
  EXPECT_EQ(tar_name("./"), "");
  EXPECT_EQ(tar_name(".."), "");
  add("a.tar", make_tar({{"../../cat/1.jpg", "one"}, {"/dog/2.jpg", "two"}}));
  const auto source = open("a.tar");
  EXPECT_THAT(lines_of(*source), ElementsAre("cat/1.jpg none cat", "dog/2.jpg none dog"));
  EXPECT_EQ(content_of(*source, 1), "two");
}

TEST_F(TarTest, LinksAndDevicesArePassedOverAndCounted) {
  add("a.tar", make_tar({{"a/1.jpg"},
                         {"a/2.jpg", "", AE_IFLNK, "1.jpg"},
                         {"a/4.jpg", "", AE_IFIFO},
                         {"a/._1.jpg"},
                         {".hidden/5.jpg"},
                         {"__MACOSX/a/6.jpg"}},
                        {ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_NONE}));
  const auto source = open("a.tar");
  EXPECT_THAT(lines_of(*source), ElementsAre("a/1.jpg none a"));
  EXPECT_EQ(source->description(),
            "tar: 1 class; skipped: hidden (1), links (1), of a NAS or an operating system "
            "(2), pipes, sockets and devices (1)");
}

// A tree packed with hard links for duplicate files is the same data set.
TEST_F(TarTest, HardLinksAreTheFilesTheyLeadTo) {
  const std::vector<MadeMember> inner{{"x/9.jpg", "nine"}, {"x/8.jpg", "", AE_IFREG, "x/9.jpg"}};
  const std::vector<MadeMember> members{{"train/a/0.jpg", "zero"},
                                        {"blobs/f3", "blob"},
                                        {"train/b/1.jpg", "", AE_IFREG, "blobs/f3"},
                                        {"val/a/0.jpg", "", AE_IFREG, "./train/a/0.jpg"},
                                        {"val/b/1.jpg", "", AE_IFREG, "train/b/1.jpg"},
                                        {"val/b/late.jpg", "", AE_IFREG, "val/b/later.jpg"},
                                        {"val/b/later.jpg", "later"},
                                        {"val/b/note.txt", "", AE_IFREG, "train/a/0.jpg"}};
  for (const int format : {ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FORMAT_TAR_PAX_RESTRICTED,
                           ARCHIVE_FORMAT_TAR_PAX_INTERCHANGE, ARCHIVE_FORMAT_TAR_GNUTAR}) {
    for (const int filter : {ARCHIVE_FILTER_NONE, ARCHIVE_FILTER_GZIP}) {
      add("a.tar", make_tar(members, {format, filter}));
      const auto source = open("a.tar");
      EXPECT_THAT(lines_of(*source), ElementsAre("train/a/0.jpg train a", "train/b/1.jpg train b",
                                                 "val/a/0.jpg val a", "val/b/1.jpg val b",
                                                 "val/b/late.jpg val b", "val/b/later.jpg val b"));
      EXPECT_EQ(content_of(*source, 1), "blob");
      EXPECT_EQ(content_of(*source, 2), "zero");
      EXPECT_EQ(content_of(*source, 3), "blob");
      EXPECT_EQ(source->read(4).error().kind, ReadError::Kind::kMissing);
      EXPECT_THAT(source->description(), HasSubstr("1 hard link to a missing file"));
    }
  }
  add("a.tar", make_tar({{"train/n.tar", make_tar(inner)}, {"train/m/1.jpg", "one"}}));
  const auto source = open("a.tar");
  ASSERT_EQ(source->entries().size(), 3U);
  EXPECT_EQ(content_of(*source, 0), "nine");
  EXPECT_EQ(content_of(*source, 1), "nine");
}

TEST_F(TarTest, InputsThatCannotBeReadAreListed) {
  // GNU's old sparse format: a file with one byte at position 1000000.
  std::string sparse = tar_header("a/2.jpg", "00000001000", 'S');
  const auto put = [&](std::size_t at, const std::string& text) {
    sparse.replace(at, text.size(), text);
  };
  put(257, std::string("ustar  \0", 8));
  put(386, "00003641000");
  put(398, "00000001000");
  put(483, "00003642000");
  put(148, "        ");
  unsigned sum = 0;
  for (const char c : sparse) sum += static_cast<unsigned char>(c);
  char text[8];
  std::snprintf(text, sizeof text, "%06o", sum);
  put(148, std::string(text, 7));
  add("a.tar", tar_header("a/1.jpg", "00000000000") + sparse + std::string(512, 'x') +
                   tar_header("a/3.jpg", "00000000002") + "ok" + std::string(510 + 1024, '\0'));
  const auto source = open("a.tar");
  ASSERT_THAT(lines_of(*source), ElementsAre("a/1.jpg none a", "a/2.jpg none a", "a/3.jpg none a"));
  EXPECT_EQ(source->read(0).error().kind, ReadError::Kind::kEmpty);
  EXPECT_THAT(content_of(*source, 1), HasSubstr("sparse"));
  EXPECT_EQ(content_of(*source, 2), "ok");
  fs::resize_file(folder_ / "a.tar", 1024);
  EXPECT_EQ(source->read(2).error().kind, ReadError::Kind::kIo);
}

TEST_F(TarTest, AFolderAroundEverythingIsLeftOff) {
  add("a.tar", make_tar({{"./", "", AE_IFDIR},
                         {"./set/", "", AE_IFDIR},
                         {"./set/README.md"},
                         {"./set/train/cat/1.jpg"},
                         {"./set/test/2.jpg"}}));
  const auto source = open("a.tar");
  EXPECT_THAT(lines_of(*source), ElementsAre("train/cat/1.jpg train cat", "test/2.jpg test "));
  EXPECT_EQ(source->description(),
            "tar: 2 splits, 1 class; all in 'set'; skipped: files that are not images (1: 1 .md)");
  add("b.tar", make_tar({{"train/cat/1.jpg"}, {"train/dog/1.jpg"}}));
  EXPECT_THAT(lines_of(*open("b.tar")),
              ElementsAre("train/cat/1.jpg train cat", "train/dog/1.jpg train dog"));
  add("c.tar", make_tar({{"cat/1.jpg"}, {"cat/2.jpg"}}));
  EXPECT_THAT(lines_of(*open("c.tar")), ElementsAre("cat/1.jpg none cat", "cat/2.jpg none cat"));
}

TEST_F(TarTest, FoldersAroundEverythingAreLeftOffInTimeThatTheirNamesBound) {
  add("a.tar", make_tar({{"a//b/x/train/cat/1.jpg"}, {"a/b/x/train/dog/2.jpg"}}));
  EXPECT_THAT(lines_of(*open("a.tar")),
              ElementsAre("train/cat/1.jpg train cat", "train/dog/2.jpg train dog"));
  add("b.tar", make_tar({{"a/b/x/1.jpg"}, {"a/b/y/2.jpg"}, {"a/b/y/z/3.jpg"}}));
  EXPECT_THAT(open("b.tar", LabelsFrom::kNone)->description(), HasSubstr("all in 'a/b'"));
  add("c.tar", make_tar({{"a/bc/1.jpg"}, {"a/bd/2.jpg"}}));
  EXPECT_THAT(open("c.tar")->description(), HasSubstr("all in 'a'"));
  const auto of_depth = [&](int depth) {
    std::string deep;
    for (int i = 0; i < depth; ++i) deep += "a/";
    const std::string name = std::to_string(depth) + ".tar";
    add(name, make_tar({{deep + "1.jpg"}, {deep + "2.jpg"}}));
    EXPECT_EQ(open(name)->entries().size(), 2U);
  };
  EXPECT_LT(test::growth(25'000, of_depth), test::kGrowthOfLinear);
}

TEST_F(TarTest, StrayImagesAndEmptyClassesAreThoseOfFolders) {
  add("a.tar",
      make_tar(
          {{"preview.png"}, {"train/cat/1.jpg", "cat"}, {"logo.png"}, {"val/cat/2.jpg", "val"}}));
  const auto source = open("a.tar");
  EXPECT_THAT(lines_of(*source), ElementsAre("train/cat/1.jpg train cat", "val/cat/2.jpg val cat"));
  EXPECT_EQ(content_of(*source, 0), "cat");
  EXPECT_EQ(content_of(*source, 1), "val");
  EXPECT_THAT(source->description(), HasSubstr("2 images beside the splits left out"));
  add("b.tar", make_tar({{"cat/1.jpg"}, {"hollow/", "", AE_IFDIR}}));
  EXPECT_THAT(refusal("b.tar"), HasSubstr("'hollow'"));
  EXPECT_THAT(open("b.tar", LabelsFrom::kAuto, true)->class_names(), ElementsAre("cat", "hollow"));
  add("c.tar", make_tar({{"readme.txt"}}));
  EXPECT_THAT(refusal("c.tar"), HasSubstr("holds no images"));
}

// Like ImageNet's training set.
TEST_F(TarTest, ArchivesInsideAreClasses) {
  const std::string cats = make_tar({{"n01_1.JPEG", "cat one"}, {"n01_2.JPEG", "cat two"}});
  const std::string dogs =
      make_tar({{"n02/n02_1.JPEG", "dog"}, {"inner.tar", make_tar({{"x.jpg"}})}});
  add("train.tar", make_tar({{"n02.tar", dogs}, {"n01.tar", cats}}));
  const auto source = open("train.tar");
  EXPECT_THAT(lines_of(*source), ElementsAre("n02/n02_1.JPEG none n02", "n01/n01_1.JPEG none n01",
                                             "n01/n01_2.JPEG none n01"));
  EXPECT_EQ(content_of(*source, 0), "dog");
  EXPECT_EQ(content_of(*source, 2), "cat two");
  EXPECT_THAT(source->description(), HasSubstr("skipped: archives within archives (1)"));
  add("broken.tar", make_tar({{"n01.tar", cats}, {"n02.tar", "no archive"}}));
  EXPECT_THAT(refusal("broken.tar"), HasSubstr("without images: 'n02'"));
}

TEST_F(TarTest, FoldersOfArchivesAreClassesOrSplits) {
  add("classes/dog.tar", make_tar({{"1.jpg", "dog"}}));
  add("classes/cat.tar.gz",
      make_tar({{"cat/1.jpg", "cat"}}, {ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_GZIP}));
  add("classes/readme.txt", "read");
  auto source = open("classes");
  EXPECT_THAT(lines_of(*source), ElementsAre("cat/1.jpg none cat", "dog/1.jpg none dog"));
  EXPECT_EQ(content_of(*source, 0), "cat");
  EXPECT_EQ(content_of(*source, 1), "dog");

  const std::string class_tar = make_tar({{"n01_1.JPEG", "train one"}});
  add("ilsvrc/ILSVRC2012_img_train.tar", make_tar({{"n01.tar", class_tar}}));
  add("ilsvrc/ILSVRC2012_img_val.tar", make_tar({{"ILSVRC2012_val_1.JPEG", "val one"}}));
  source = open("ilsvrc");
  EXPECT_THAT(lines_of(*source),
              ElementsAre("train/n01/n01_1.JPEG train n01", "val/ILSVRC2012_val_1.JPEG val "));
  EXPECT_EQ(content_of(*source, 0), "train one");
  EXPECT_EQ(content_of(*source, 1), "val one");

  add("splits/train/cat.tar", make_tar({{"1.jpg"}}));
  add("splits/val/cat.tar", make_tar({{"1.jpg"}}));
  EXPECT_THAT(lines_of(*open("splits")),
              ElementsAre("train/cat/1.jpg train cat", "val/cat/1.jpg val cat"));
}

TEST_F(TarTest, FoldersWithImagesBesideArchivesAreImageFolders) {
  add("a/cat/1.jpg", "bytes");
  add("a/backup.tar", make_tar({{"cat/2.jpg"}}));
  EXPECT_EQ(open("a")->format(), "image_folder");
  EXPECT_THAT(refusal("a"), HasSubstr("not a folder of tar archives only"));
}

TEST_F(TarTest, RangesStandForTheirFiles) {
  for (const char* name : {"c-08.tar", "c-09.tar", "c-10.tar"})
    add(name, make_tar({{"1.jpg", name}}));
  const auto source = open("c-{08..10}.tar");
  EXPECT_THAT(lines_of(*source),
              ElementsAre("c-08/1.jpg none c-08", "c-09/1.jpg none c-09", "c-10/1.jpg none c-10"));
  EXPECT_EQ(content_of(*source, 2), "c-10.tar");
  EXPECT_THAT(refusal("c-{08..11}.tar"), HasSubstr("c-11.tar"));
  EXPECT_THAT(refusal("c-{10..08}.tar"), HasSubstr("not a range"));
  EXPECT_THAT(refusal("c-{0..999999999}.tar"), HasSubstr("not a range"));
}

TEST_F(TarTest, TheLastOfANameCounts) {
  add("a.tar", make_tar({{"cat/1.jpg", "old"}, {"cat/2.jpg", "two"}, {"./cat/1.jpg", "new"}}));
  const auto source = open("a.tar");
  EXPECT_THAT(lines_of(*source), ElementsAre("cat/2.jpg none cat", "cat/1.jpg none cat"));
  EXPECT_EQ(content_of(*source, 1), "new");
  EXPECT_THAT(source->description(), HasSubstr("1 image replaced"));
}

TEST_F(TarTest, HundredsOfArchivesAreRead) {
  for (int i = 0; i < 200; ++i) {
    add("set/" + std::to_string(i) + ".tar", make_tar({{"1.jpg", "number " + std::to_string(i)}}));
  }
  const auto source = open("set");
  ASSERT_EQ(source->entries().size(), 200U);
  EXPECT_EQ(content_of(*source, 199), "number 99");
  EXPECT_EQ(content_of(*source, 0), "number 0");
  add("set/0.tar", "changed");
  EXPECT_THAT(content_of(*source, 0), HasSubstr("cut short"));
}

TEST_F(TarTest, ArchivesOneBehindTheOther) {
  add("a.tar", make_tar({{"cat/1.jpg", "one"}}) + make_tar({{"dog/2.jpg", "two"}}));
  const auto source = open("a.tar");
  EXPECT_THAT(lines_of(*source), ElementsAre("cat/1.jpg none cat", "dog/2.jpg none dog"));
  EXPECT_EQ(content_of(*source, 1), "two");
}

TEST_F(TarTest, SizesBeyondTheFileAreRefused) {
  const std::string huge(1, '\x80');
  const std::vector<std::string> sizes{
      "77777777777", huge + std::string(3, '\0') + std::string("\x7f") + std::string(7, '\xff'),
      std::string(12, '\xff')};
  for (const std::string& size : sizes) {
    add("a.tar", tar_header("a/1.jpg", "00000000002") + "ok" + std::string(510, '\0') +
                     tar_header("a/2.jpg", size) + std::string(2048, '\0'));
    EXPECT_THAT(refusal("a.tar"), AllOf(HasSubstr("a.tar"), HasSubstr("damaged or cut short")))
        << size;
  }
}

TEST_F(TarTest, ChainsOfSpecialHeadersEnd) {
  std::string chain;
  for (int i = 0; i < 20000; ++i) {
    chain += tar_header("././@LongLink", "00000000002", 'L') + std::string("a\0", 2) +
             std::string(510, '\0');
  }
  add("a.tar", chain);
  EXPECT_THAT(refusal("a.tar"), HasSubstr("a.tar"));
}

// Every cut is refused, or gives part of the contents and a note.
TEST_F(TarTest, CutAtEveryLength) {
  const std::string whole = make_tar({{"cat/1.jpg", "one"}, {"dog/2.jpg", std::string(600, 'd')}},
                                     {ARCHIVE_FORMAT_TAR_PAX_INTERCHANGE, ARCHIVE_FILTER_NONE});
  int refused = 0;
  for (std::size_t length = 0; length < whole.size(); length += length < 6000 ? 5 : 512) {
    add("a.tar", whole.substr(0, length));
    try {
      const auto source = open_source(folder_ / "a.tar", {.format = "tar"});
      const bool noted = source->description().find("without an end mark") != std::string::npos;
      EXPECT_TRUE(noted || source->entries().size() == 2) << length;
      for (std::size_t i = 0; i < source->entries().size(); ++i) {
        EXPECT_EQ(content_of(*source, i), i == 0 ? "one" : std::string(600, 'd')) << length;
      }
    } catch (const UsageError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 400);
  add("a.tar", whole);
  EXPECT_EQ(open("a.tar")->description(), "tar: 2 classes");
}

TEST_F(TarTest, FlippedBytesNeverBreakAnything) {
  for (const int filter : {ARCHIVE_FILTER_NONE, ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_ZSTD}) {
    const std::string whole =
        make_tar({{"cat/1.jpg", "one"}, {std::string(150, 'd') + "/2.jpg", std::string(600, 'd')}},
                 {ARCHIVE_FORMAT_TAR_GNUTAR, filter});
    std::mt19937 random(3);
    for (int round = 0; round < 150; ++round) {
      std::string damaged = whole;
      for (int flips = 0; flips < 3; ++flips) {
        damaged[random() % std::min<std::size_t>(whole.size(), 4096)] ^=
            static_cast<char>(1 + random() % 255);
      }
      add("a.tar", damaged);
      try {
        const auto source = open_source(folder_ / "a.tar", {.format = "tar"});
        for (std::size_t i = 0; i < source->entries().size(); ++i) {
          EXPECT_LE(content_of(*source, i).size(), 20000U);
        }
      } catch (const UsageError& error) {
        EXPECT_THAT(error.what(), HasSubstr("a.tar"));
      }
    }
  }
}

TEST_F(TarTest, CutCompressedArchivesAreRefused) {
  const std::string whole = make_tar(kTwoSplits, {ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_GZIP});
  for (std::size_t length = 10; length + 9 < whole.size(); ++length) {
    add("a.tar.gz", whole.substr(0, length));
    EXPECT_NE(refusal("a.tar.gz"), "accepted") << length;
  }
}

TEST_F(TarTest, WhatIsNoArchiveIsSaidToBeNone) {
  add("a.tar", "this is no archive, whatever its name says");
  EXPECT_THAT(refusal("a.tar", "auto"), HasSubstr("has no known format"));
  EXPECT_THAT(refusal("a.tar"), HasSubstr("cannot be read as a tar archive"));
}

TEST_F(TarTest, AnArchiveThatIsReadStaysOpenHoweverManyThereAre) {
  fs::create_directories(folder_ / "parts");
  const auto part = [](std::size_t i) { return "parts/" + std::to_string(1000 + i) + ".tar"; };
  for (std::size_t i = 0; i < 150; ++i)
    add(part(i), make_tar({{"1.jpg", "one"}, {"2.jpg", "two"}}));
  const auto source = open("parts");
  ASSERT_EQ(source->entries().size(), 300U);
  for (std::size_t i = 0; i < 150; ++i) {
    EXPECT_TRUE(source->read(2 * i));
    fs::remove(folder_ / part(i));
    EXPECT_TRUE(source->read(2 * i + 1)) << i;
  }
}

}  // namespace winnow::datasets::tar_test
