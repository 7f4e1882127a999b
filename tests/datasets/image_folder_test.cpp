#include "datasets/image_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <set>

#include "common/error.h"
#include "datasets/formats.h"
#include "tests/common/temporary_folder.h"

namespace winnow::datasets::image_folder_test {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class ImageFolderTest : public testing::Test {
 protected:
  void add(const std::string& name, const std::string& content = "bytes") const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << content;
  }
  void add_folder(const std::string& name) const { fs::create_directories(folder_ / name); }

  std::unique_ptr<Source> open(LabelsFrom labels = LabelsFrom::kAuto,
                               bool allow_empty = false) const {
    return open_source(folder_.path(),
                       {.format = "auto", .labels = labels, .allow_empty_classes = allow_empty});
  }

  std::string refusal(LabelsFrom labels = LabelsFrom::kAuto) const {
    try {
      open(labels);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  }

  TemporaryFolder folder_;
};

// "name split label,label" of every entry.
std::vector<std::string> lines(const Source& source) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < source.entries().size(); ++i) {
    const Entry entry = source.entries()[i];
    std::string line = entry.name + " " + std::string(split_name(entry.split)) + " ";
    for (const std::int32_t label : entry.labels) {
      line += source.class_names()[static_cast<std::size_t>(label)];
    }
    out.push_back(line);
  }
  return out;
}

// "count reason" of what was skipped.
std::vector<std::string> skips(const Source& source) {
  std::vector<std::string> out;
  for (const Skipped& row : source.skipped()) {
    out.push_back(std::to_string(row.count) + " " + row.reason);
  }
  return out;
}

TEST_F(ImageFolderTest, SplitsWithClasses) {
  add("train/dog/b.jpg");
  add("train/cat/a.jpg");
  add("train/cat/c.png");
  add("val/dog/d.jpg");
  add("test/emu/e.jpg");
  add("test/cat/f.jpg");
  const auto source = open();
  EXPECT_EQ(source->format(), "image_folder");
  EXPECT_THAT(source->class_names(), ElementsAre("cat", "dog", "emu"));
  EXPECT_THAT(lines(*source), ElementsAre("test/cat/f.jpg test cat", "test/emu/e.jpg test emu",
                                          "train/cat/a.jpg train cat", "train/cat/c.png train cat",
                                          "train/dog/b.jpg train dog", "val/dog/d.jpg val dog"));
  EXPECT_EQ(source->description(), "image folder: 3 splits, 3 classes");
}

TEST_F(ImageFolderTest, OneSetOfClassFolders) {
  add("b/1.jpg");
  add("a/2.JPG");
  add("a/readme.txt");
  add("labels.csv");
  const auto source = open();
  EXPECT_THAT(lines(*source), ElementsAre("a/2.JPG none a", "b/1.jpg none b"));
  EXPECT_EQ(source->description(),
            "image folder: 2 classes; skipped: files that are not images (2: 1 .csv, 1 .txt)");
}

TEST_F(ImageFolderTest, OtherDepthsAreUnlabelledUnlessAskedFor) {
  add("a/1.jpg");
  add("a/deep/er/2.jpg");
  add("b/3.jpg");
  EXPECT_THAT(lines(*open()),
              ElementsAre("a/1.jpg none ", "a/deep/er/2.jpg none ", "b/3.jpg none "));
  EXPECT_EQ(open()->description(),
            "image folder: unlabelled, because 'a/deep/er/2.jpg' is deeper than CLASS/FILE; use "
            "the first folder as the class with --labels folder");
  EXPECT_THAT(lines(*open(LabelsFrom::kFolder)),
              ElementsAre("a/1.jpg none a", "a/deep/er/2.jpg none a", "b/3.jpg none b"));
  add("top.jpg");
  EXPECT_THAT(open()->class_names(), ElementsAre());
  EXPECT_THAT(refusal(LabelsFrom::kFolder), HasSubstr("1 image is directly in"));
}

TEST_F(ImageFolderTest, AFewImagesBesideClassFoldersAreLeftOutByName) {
  add("cat/1.jpg");
  add("dog/2.jpg");
  add("stray.jpg");
  const auto source = open();
  EXPECT_THAT(lines(*source), ElementsAre("cat/1.jpg none cat", "dog/2.jpg none dog"));
  EXPECT_EQ(source->description(),
            "image folder: 2 classes; 1 image beside the class folders left out: 'stray.jpg'");
  EXPECT_THAT(skips(*source), ElementsAre("1 beside the class folders"));
  EXPECT_EQ(open(LabelsFrom::kNone)->entries().size(), 3U);
  add("another.jpg");
  add("third.jpg");  // more images than folders: a plain collection of images
  EXPECT_EQ(open()->entries().size(), 5U);
  EXPECT_EQ(open()->description(),
            "image folder: unlabelled, because 3 images are beside the folders: 'another.jpg', "
            "'stray.jpg', 'third.jpg'");
}

TEST_F(ImageFolderTest, ImagesBesideOneFolderStay) {
  add("trip/1.jpg");
  add("2.jpg");
  EXPECT_THAT(lines(*open()), ElementsAre("2.jpg none ", "trip/1.jpg none "));
  EXPECT_THAT(open()->description(), HasSubstr("1 image is beside the folders: '2.jpg'"));
}

TEST_F(ImageFolderTest, FoldersAroundASetAreLookedThrough) {
  add("hymenoptera_data/train/ants/1.jpg");
  add("hymenoptera_data/train/bees/2.jpg");
  add("hymenoptera_data/val/ants/3.jpg");
  add("hymenoptera_data.zip");
  for (const LabelsFrom labels : {LabelsFrom::kAuto, LabelsFrom::kFolder}) {
    const auto source = open(labels);
    EXPECT_THAT(lines(*source), ElementsAre("hymenoptera_data/train/ants/1.jpg train ants",
                                            "hymenoptera_data/train/bees/2.jpg train bees",
                                            "hymenoptera_data/val/ants/3.jpg val ants"));
    EXPECT_THAT(source->description(), HasSubstr("2 splits, 2 classes; all in "
                                                 "'hymenoptera_data'"));
    ASSERT_TRUE(source->read(0));
  }
  add_folder("hymenoptera_data/train/wasps");
  EXPECT_THAT(refusal(), HasSubstr("'train/wasps'"));
}

TEST_F(ImageFolderTest, SeveralFoldersAroundAFlatSetAreLookedThroughUnlessTheyAreAskedFor) {
  add("a/b/cat/1.jpg");
  add("a/b/dog/2.jpg");
  EXPECT_THAT(lines(*open()), ElementsAre("a/b/cat/1.jpg none cat", "a/b/dog/2.jpg none dog"));
  EXPECT_EQ(open()->description(), "image folder: 2 classes; all in 'a/b'");
  EXPECT_THAT(open(LabelsFrom::kFolder)->class_names(), ElementsAre("a"));
  add("a/read.jpg");  // so b is no longer alone
  EXPECT_TRUE(open()->class_names().empty());
}

TEST_F(ImageFolderTest, OneClassAloneAndOneSplitAloneAreNotAroundASet) {
  add("cat/1.jpg");
  EXPECT_THAT(lines(*open()), ElementsAre("cat/1.jpg none cat"));
  fs::remove_all(folder_ / "cat");
  add("train/cat/1.jpg");
  EXPECT_THAT(lines(*open()), ElementsAre("train/cat/1.jpg train cat"));
}

TEST_F(ImageFolderTest, LabelsCanBeLeft) {
  add("train/cat/a.jpg");
  add("val/cat/b.jpg");
  const auto source = open(LabelsFrom::kNone);
  EXPECT_THAT(lines(*source), ElementsAre("train/cat/a.jpg train ", "val/cat/b.jpg val "));
  EXPECT_TRUE(source->class_names().empty());
}

TEST_F(ImageFolderTest, ImagesDirectlyInASplitAreUnlabelled) {
  add("train/cat/a.jpg");
  add("test/1.jpg");
  EXPECT_THAT(lines(*open()), ElementsAre("test/1.jpg test ", "train/cat/a.jpg train cat"));
  EXPECT_THAT(lines(*open(LabelsFrom::kFolder)),
              ElementsAre("test/1.jpg test ", "train/cat/a.jpg train cat"));
}

// Like Tiny ImageNet: val/images/*.JPEG is one folder that is not a class.
TEST_F(ImageFolderTest, ASplitThatSharesNoClassWithTrainIsUnlabelled) {
  add("train/n01/images/n01_0.JPEG");
  add("train/n02/images/n02_0.JPEG");
  add("val/images/val_0.JPEG");
  const auto source = open();
  EXPECT_THAT(source->class_names(), ElementsAre("n01", "n02"));
  EXPECT_THAT(lines(*source),
              ElementsAre("train/n01/images/n01_0.JPEG train n01",
                          "train/n02/images/n02_0.JPEG train n02", "val/images/val_0.JPEG val "));
  EXPECT_THAT(source->description(),
              AllOf(HasSubstr("val taken as unlabelled"), HasSubstr("'images' is no class")));
  EXPECT_THAT(open(LabelsFrom::kFolder)->class_names(), ElementsAre("images", "n01", "n02"));
}

TEST_F(ImageFolderTest, SplitNamesAreThoseOfParseSplit) {
  add("Training/a/1.jpg");
  add("VALIDATION/a/2.jpg");
  add("Testing/a/3.jpg");
  EXPECT_THAT(lines(*open()), ElementsAre("Testing/a/3.jpg test a", "Training/a/1.jpg train a",
                                          "VALIDATION/a/2.jpg val a"));
}

TEST_F(ImageFolderTest, OtherImagesBesideSplitsAreRefusedByName) {
  add("train/a/1.jpg");
  add("train/b/1.jpg");
  add("val/a/2.jpg");
  add("extra/a/3.jpg");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("'train', 'val'"), HasSubstr("'extra'"),
                               HasSubstr("move the other images away")));
  EXPECT_THAT(refusal(LabelsFrom::kFolder), HasSubstr("'extra'"));
  const auto source = open(LabelsFrom::kNone);
  EXPECT_EQ(source->entries()[0].split, Split::kNone);
  EXPECT_EQ(source->entries().size(), 4U);
  EXPECT_THAT(source->description(), HasSubstr("'train', 'val' not taken as splits"));
}

TEST_F(ImageFolderTest, FoldersWithoutImagesBesideSplitsDoNotMatter) {
  add("train/a/1.jpg");
  add("docs/read.txt");
  add("preview.png");
  const auto source = open();
  EXPECT_THAT(lines(*source), ElementsAre("train/a/1.jpg train a"));
  EXPECT_EQ(source->description(),
            "image folder: 1 split, 1 class; 1 image beside the splits left out: "
            "'preview.png'; skipped: files that are not images (1: 1 .txt)");
}

// A photo collection that has a folder "test" must not lose its other photos silently.
TEST_F(ImageFolderTest, ManyImagesBesideASplitAreRefused) {
  add("test/1.jpg");
  for (int i = 0; i < 11; ++i) add("photo" + std::to_string(i) + ".jpg");
  EXPECT_THAT(refusal(),
              AllOf(HasSubstr("'test' and next to it 11 images"), HasSubstr("labels none")));
  EXPECT_EQ(open(LabelsFrom::kNone)->entries().size(), 12U);
}

// CIFAR-100 has a class "train".
TEST_F(ImageFolderTest, AClassMayBeNamedLikeASplit) {
  add("bus/1.jpg");
  add("train/2.jpg");
  EXPECT_THAT(refusal(), HasSubstr("labels folder"));
  const auto source = open(LabelsFrom::kFolder);
  EXPECT_THAT(lines(*source), ElementsAre("bus/1.jpg none bus", "train/2.jpg none train"));
  EXPECT_THAT(source->description(), HasSubstr("'train' not taken as a split"));
}

TEST_F(ImageFolderTest, EmptyClassesAreRefusedByName) {
  add("train/a/1.jpg");
  add_folder("train/hollow");
  add("val/a/2.jpg");
  EXPECT_THAT(refusal(),
              AllOf(HasSubstr("1 class folder without images"), HasSubstr("'train/hollow'")));
  EXPECT_THAT(open(LabelsFrom::kAuto, true)->class_names(), ElementsAre("a", "hollow"));
}

TEST_F(ImageFolderTest, EmptyClassesOfAFlatSetAreRefusedByName) {
  add("a/1.jpg");
  add("notes/read.txt");
  EXPECT_THAT(refusal(), HasSubstr("'notes'"));
  EXPECT_THAT(open(LabelsFrom::kAuto, true)->class_names(), ElementsAre("a", "notes"));
}

TEST_F(ImageFolderTest, NothingToReadIsRefused) {
  EXPECT_THAT(refusal(), HasSubstr("holds no images"));
  add("a/notes.txt");
  EXPECT_THAT(refusal(), HasSubstr("holds no images"));
  try {
    open_source(folder_ / "nowhere", {});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("there is nothing at"));
  }
}

TEST_F(ImageFolderTest, EveryEndingOfTorchvisionsInAnyCaseAndOthersOfTheSameFormats) {
  for (const char* name : {"a.jpg", "b.jpeg", "c.png", "d.ppm", "e.bmp", "f.pgm", "g.tif", "h.tiff",
                           "i.webp", "j.JPEG", "k.Png", "p.jfif", "q.pbm", "r.jpg "}) {
    add(std::string("x/") + name);
  }
  for (const char* name : {"m.txt", "n", "jpg", "o.jpg.part", "s.TXT", "t.2024-05-06"})
    add(std::string("x/") + name);
  const auto source = open();
  EXPECT_EQ(source->entries().size(), 14U);
  EXPECT_EQ(source->description(),
            "image folder: 1 class; skipped: files that are not images (6: 3 others, 2 .txt, 1 "
            ".part)");
  EXPECT_THAT(skips(*source),
              ElementsAre("1 no image by its name: .part", "2 no image by its name: .txt",
                          "3 no image by its name: others"));
}

TEST_F(ImageFolderTest, ImagesThatCannotBeReadAreInputsToo) {
  for (const char* name :
       {"a.heic", "b.HEIF", "c.avif", "d.jxl", "e.jp2", "f.gif", "g.psd", "h.exr"}) {
    add(std::string("x/") + name);
  }
  EXPECT_EQ(open()->entries().size(), 8U);
}

TEST_F(ImageFolderTest, HiddenAndSystemFoldersArePassedOver) {
  add("a/1.jpg");
  const std::vector<std::string> hidden{".hidden/2.jpg", "a/.trash/3.jpg", "a/.4.jpg"};
  const std::vector<std::string> of_systems{"@eaDir/1.jpg",
                                            "@Recently-Snapshot/1.jpg",
                                            "a/@eaDir/1.jpg/THUMB.jpg",
                                            "a/.thumbnails/4.jpg",
                                            "a/._1.jpg",
                                            "a/.snapshot/1.jpg",
                                            ".zfs/1.jpg",
                                            "#snapshot/5.jpg",
                                            "#recycle/6.jpg",
                                            "@Recycle/6.jpg",
                                            "$RECYCLE.BIN/6.jpg",
                                            "System Volume Information/6.jpg",
                                            ".Trash-1000/6.jpg",
                                            "__MACOSX/7.jpg",
                                            "lost+found/8.jpg",
                                            "Thumbs.db",
                                            "a/.DS_Store"};
  for (const std::string& name : hidden) add(name);
  for (const std::string& name : of_systems) add(name);
  const auto source = open();
  EXPECT_THAT(lines(*source), ElementsAre("a/1.jpg none a"));
  EXPECT_THAT(skips(*source), ElementsAre("3 hidden", "17 of a NAS or an operating system"));
  EXPECT_EQ(source->description(),
            "image folder: 1 class; skipped: hidden (3), of a NAS or an operating system (17)");

  const auto with_hidden =
      open_source(folder_.path(), {.labels = LabelsFrom::kNone, .hidden = true});
  EXPECT_THAT(lines(*with_hidden), ElementsAre(".hidden/2.jpg none ", "a/.4.jpg none ",
                                               "a/.trash/3.jpg none ", "a/1.jpg none "));
  const auto with_system =
      open_source(folder_.path(), {.labels = LabelsFrom::kNone, .hidden = true, .system = true});
  EXPECT_EQ(with_system->entries().size(), 4 + of_systems.size() - 2);
  EXPECT_THAT(skips(*with_system),
              ElementsAre("1 no image by its name: .db", "1 no image by its name: others"));
}

TEST_F(ImageFolderTest, WhatIsExcludedIsPassedOver) {
  for (const char* name : {"train/a/1.jpg", "train/a/1_small.jpg", "train/drafts/2.jpg",
                           "test/a/3.jpg", "test/a/1.jpg"}) {
    add(name);
  }
  const auto source =
      open_source(folder_.path(), {.exclude = {"*_small.*", "drafts", "test/*/1.jpg", "none"}});
  EXPECT_THAT(lines(*source), ElementsAre("test/a/3.jpg test a", "train/a/1.jpg train a"));
  EXPECT_THAT(skips(*source), ElementsAre("3 excluded"));
}

TEST_F(ImageFolderTest, OddNamesAreKept) {
  std::vector<std::string> names{"-rf/--help.jpg",
                                 "a\nb/\n.jpg",
                                 "a/ .jpg",
                                 "a/\xFF\xFE.jpg",
                                 "a/b .jpg",
                                 "blank /1.jpg ",
                                 "a/\t\x1B[2J.jpg",
                                 "a/\"quote'\\.jpg",
                                 "\xF0\x9F\x98\xBA/1.jpg",
                                 std::string(255, 'd') + "/" + std::string(251, 'f') + ".jpg"};
  for (const std::string& name : names) add(name);
  std::sort(names.begin(), names.end());
  const auto source = open();
  std::vector<std::string> listed;
  for (const std::string& name : source->entries().names()) listed.push_back(name);
  EXPECT_EQ(listed, names);
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_TRUE(source->read(i)) << names[i];
}

TEST_F(ImageFolderTest, LinksCanBePassedOver) {
  add("a/1.jpg");
  fs::create_symlink("1.jpg", folder_ / "a/2.jpg");
  fs::create_directory_symlink(folder_ / "a", folder_ / "b");
  const auto source = open_source(folder_.path(), {.follow_links = false});
  EXPECT_THAT(lines(*source), ElementsAre("a/1.jpg none a"));
  EXPECT_THAT(skips(*source), ElementsAre("2 symbolic links"));
}

// There are 12! paths through them.
TEST_F(ImageFolderTest, FoldersThatAllLinkToEachOtherEnd) {
  constexpr int kFolders = 12;
  for (int i = 0; i < kFolders; ++i) add(std::to_string(i) + "/1.jpg");
  for (int i = 0; i < kFolders; ++i) {
    for (int k = 0; k < kFolders; ++k) {
      const std::string to = std::to_string(k);
      fs::create_directory_symlink(folder_ / to, folder_ / (std::to_string(i) + "/to" + to));
    }
  }
  const auto source = open(LabelsFrom::kNone);
  EXPECT_GE(source->entries().size(), 12U);
  EXPECT_LE(source->entries().size(), 1200U);
  EXPECT_THAT(source->description(), HasSubstr("links in a circle"));
}

TEST_F(ImageFolderTest, LinksAreFollowedAndLoopsBroken) {
  add("store/1.jpg");
  add("real/2.jpg");
  fs::create_directory_symlink(folder_ / "store", folder_ / "real/linked");
  fs::create_directory_symlink(folder_.path(), folder_ / "real/up");
  fs::create_symlink("2.jpg", folder_ / "real/3.jpg");
  EXPECT_THAT(lines(*open(LabelsFrom::kNone)),
              ElementsAre("real/2.jpg none ", "real/3.jpg none ", "real/linked/1.jpg none ",
                          "store/1.jpg none "));
}

TEST_F(ImageFolderTest, InputsThatCannotBeReadAreListed) {
  add("a/1.jpg", "content");
  add("a/2.jpg", "");
  fs::create_symlink("nowhere.jpg", folder_ / "a/3.jpg");
  // Not an input: reading it would hang
  ASSERT_EQ(::mkfifo((folder_ / "a/4.jpg").c_str(), 0600), 0);
  const auto source = open();
  ASSERT_THAT(lines(*source), ElementsAre("a/1.jpg none a", "a/2.jpg none a", "a/3.jpg none a"));
  EXPECT_EQ(source->entries()[0].input_bytes, 7U);
  const auto first = source->read(0);
  ASSERT_TRUE(first);
  EXPECT_EQ(as_text(std::get<Bytes>(*first)), "content");
  EXPECT_EQ(source->read(1).error().kind, ReadError::Kind::kEmpty);
  EXPECT_EQ(source->read(2).error().kind, ReadError::Kind::kMissing);
  fs::remove(folder_ / "a/1.jpg");
  EXPECT_EQ(source->read(0).error().kind, ReadError::Kind::kMissing);
  fs::create_directory(folder_ / "a/1.jpg");
  EXPECT_EQ(source->read(0).error().kind, ReadError::Kind::kIo);
}

TEST_F(ImageFolderTest, OrderIsByBytesWhateverOrderFilesWereMadeIn) {
  std::vector<std::string> names{"a/1.jpg",  "a/10.jpg",       "a/2.jpg", "a b/1.jpg", "B/1.jpg",
                                 "a-/x.jpg", "\xC3\xA4/1.jpg", "z/1.jpg", "a.b/1.jpg"};
  std::mt19937 shuffle(1);
  std::shuffle(names.begin(), names.end(), shuffle);
  for (const std::string& name : names) add(name);
  std::sort(names.begin(), names.end());
  std::vector<std::string> listed;
  const auto source = open();
  for (const std::string& name : source->entries().names()) listed.push_back(name);
  EXPECT_EQ(listed, names);
  EXPECT_TRUE(std::is_sorted(source->class_names().begin(), source->class_names().end()));
}

// If a folder and files next to it begin alike, '/' sorts among their next characters.
TEST_F(ImageFolderTest, PathsOfAnyDepthAreInTheOrderOfTheirBytes) {
  std::mt19937 random(2);
  std::set<std::string> names;
  for (int i = 0; i < 300; ++i) {
    std::string name;
    for (std::size_t depth = random() % 4; depth > 0; --depth) {
      for (std::size_t length = 1 + random() % 2; length > 0; --length) name += "a-0"[random() % 3];
      name += "/";
    }
    for (std::size_t length = 1 + random() % 2; length > 0; --length) name += "a-0"[random() % 3];
    name += ".jpg";
    add(name);
    names.insert(name);
  }
  const auto source = open(LabelsFrom::kNone);
  const NameColumn& listed = source->entries().names();
  EXPECT_EQ(std::vector(names.begin(), names.end()), [&] {
    std::vector<std::string> all;
    for (const std::string& name : listed) all.push_back(name);
    return all;
  }());
}

TEST_F(ImageFolderTest, UnknownFormatsAreRefusedWithTheKnownOnes) {
  add("a/1.jpg");
  try {
    open_source(folder_.path(), {.format = "zip"});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("'zip'"), HasSubstr("image_folder")));
  }
  add("notes.txt");
  try {
    open_source(folder_ / "notes.txt", {});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("has no known format"));
  }
  EXPECT_EQ(open_source(folder_.path(), {.format = "image_folder"})->entries().size(), 1U);
}

TEST_F(ImageFolderTest, FilesWithoutEndingsAreTakenByTheirFirstBytes) {
  add("cat/1", "\xff\xd8\xff\xe0 a JPEG");
  add("cat/2.jpg");
  add("dog/sha256-0f", std::string("\x89PNG\r\n\x1a\n rest"));
  add("dog/LICENSE", "A licence is no image.");
  add("dog/empty", "");
  add("dog/data.bin", "\xff\xd8\xff\xe0 a JPEG that says it is none");
  const auto source = open();
  EXPECT_THAT(lines(*source),
              ElementsAre("cat/1 none cat", "cat/2.jpg none cat", "dog/sha256-0f none dog"));
  EXPECT_THAT(skips(*source),
              ElementsAre("1 no image by its name: .bin", "2 no image by its name: others"));
}

// Folders with winnow's own files are no part of a data set, wherever they are.
TEST_F(ImageFolderTest, CachesInsideASetArePassedOver) {
  add("cat/1.jpg");
  add("dog/2.jpg");
  add("cache/manifest.json", "{\n  \"digest\": \"0f\",\n  \"format\": \"winnow-cache\",\n");
  add("cache/shards/00000.mdb");
  add("cat/index/manifest.json", "{\n  \"digest\": \"0f\",\n  \"format\": \"winnow-index\",\n");
  add("half/unfinished", "winnow is ingesting");
  add("half/parts/1.jpg");
  const auto source = open();
  EXPECT_THAT(lines(*source), ElementsAre("cat/1.jpg none cat", "dog/2.jpg none dog"));
  EXPECT_THAT(source->description(), HasSubstr("caches and indexes of winnow (3)"));
  add("other/manifest.json", "{\"format\": \"of another program\"}");
  add("other/3.jpg");
  EXPECT_EQ(open()->entries().size(), 3U);
}

TEST_F(ImageFolderTest, AFolderThatMayNotBeListedIsAnInputThatCannotBeRead) {
  add("train/cat/1.jpg");
  add("train/dog/2.jpg");
  add("train/dog/more/3.jpg");
  const fs::path closed = folder_ / "train/dog";
  ASSERT_EQ(::chmod(closed.c_str(), ::geteuid() == 0 ? 0700 : 0), 0);
  const uid_t me = ::geteuid();
  if (me == 0) {  // root can list everything; other users must be able to reach the folder
    for (fs::path at = folder_ / ""; at != at.root_path(); at = at.parent_path()) {
      fs::permissions(at, fs::perms::group_exec | fs::perms::others_exec | fs::perms::others_read,
                      fs::perm_options::add);
    }
    ASSERT_EQ(::seteuid(65534), 0);
  }
  const auto source = open();
  const auto input = source->read(1);
  ASSERT_EQ(::seteuid(me), 0);
  ASSERT_EQ(::chmod(closed.c_str(), 0700), 0);
  EXPECT_THAT(lines(*source), ElementsAre("train/cat/1.jpg train cat", "train/dog/* train dog"));
  ASSERT_FALSE(input);
  EXPECT_EQ(input.error().kind, ReadError::Kind::kIo);
  EXPECT_THAT(input.error().detail, HasSubstr("a folder that cannot be listed; allow it"));
}

}  // namespace winnow::datasets::image_folder_test
