#pragma once

#include <filesystem>
#include <memory>

#include "datasets/source.h"

namespace winnow::datasets {

// True for any folder.
bool image_folder_found_at(const std::filesystem::path& path);

// Images in folders, listed in byte-wise order of their relative names. What is listed is decided
// by the name's ending (layout.h), or the first bytes of a file whose name has none; what it is, by
// its bytes when it is decoded. Folders that winnow made for a cache or an index are passed over.
// One that may not be listed is an input that cannot be read. Hidden names, what
// NAS and operating systems add (skips.h) and what is excluded are passed over, as OpenOptions say,
// as are pipes, sockets and devices. Symbolic links are followed until they lead back into a folder
// they are in, and into no folder more than a hundred times, unless all links are passed over; a
// dangling link is listed, as unreadable. What was passed over is counted.
//
//   around     Folders that hold nothing but one folder, which is no split and holds folders alone,
//              are looked through ("download/photos/train/cat/1.jpg"): what follows is said of the
//              last of them. Names stay relative to the root. Under kFolder only where splits are
//              found there. description() says so.
//   splits     Folders with images at the root named as parse_split takes them. Other folders with
//              images, or more than ten images, beside them are refused: nobody can tell what they
//              are. They are read as one tree without splits under labels kNone, and as classes
//              under kFolder where images lie directly in the folders named like splits (a class
//              may be called "train"). Up to ten images beside splits are left out, and
//              description() says so.
//   labels     kFolder: the first folder below the root or split, whatever lies deeper, as
//              torchvision. kAuto, without splits: by class folder if every image lies in
//              CLASS/FILE; up to ten images beside them, of which there are no more than of
//              folders, are left out. Otherwise unlabelled. description() names what was left out,
//              or what made it unlabelled. kAuto, with splits: by class folder; a split whose
//              folders share no name with those of train is unlabelled. Images directly in a
//              split's folder are unlabelled. kNone: unlabelled.
//   classes    The sorted union of the class folders of all splits.
//
// EIO and ESTALE are tried again a few times, in listing and in reading, before they are reported.
// Throws UsageError as above, for a folder without images, and, naming it, for a class folder
// without images unless they are allowed; SystemError for a root that may not be listed, and for
// what cannot be listed for other reasons.
std::unique_ptr<Source> open_image_folder(const std::filesystem::path& path,
                                          const OpenOptions& options);

}  // namespace winnow::datasets
