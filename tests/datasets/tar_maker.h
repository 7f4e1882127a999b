#pragma once

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace winnow::datasets {

struct MadeMember {
  std::string name;
  std::string content = "bytes";
  unsigned type = AE_IFREG;
  std::string link_to = {};  // target of a hard link; the type must be that of a file
};

struct TarStyle {
  int format = ARCHIVE_FORMAT_TAR_PAX_RESTRICTED;
  int filter = ARCHIVE_FILTER_NONE;
};

// An archive in memory, written by libarchive.
inline std::string make_tar(const std::vector<MadeMember>& members, TarStyle style = {}) {
  std::string out(1 << 16, '\0');
  for (const MadeMember& m : members)
    out.resize(out.size() + m.content.size() + 4 * m.name.size() + 16384);
  archive* a = archive_write_new();
  EXPECT_EQ(archive_write_set_format(a, style.format), ARCHIVE_OK);
  EXPECT_EQ(archive_write_add_filter(a, style.filter), ARCHIVE_OK);
  if (style.filter != ARCHIVE_FILTER_NONE) archive_write_set_bytes_per_block(a, 0);
  std::size_t used = 0;
  EXPECT_EQ(archive_write_open_memory(a, out.data(), out.size(), &used), ARCHIVE_OK);
  for (const MadeMember& m : members) {
    archive_entry* e = archive_entry_new();
    archive_entry_set_pathname(e, m.name.c_str());
    archive_entry_set_filetype(e, m.type);
    archive_entry_set_perm(e, 0644);
    const bool file = m.type == AE_IFREG && m.link_to.empty();
    archive_entry_set_size(e, file ? static_cast<la_int64_t>(m.content.size()) : 0);
    if (!m.link_to.empty() && m.type == AE_IFLNK) archive_entry_set_symlink(e, m.link_to.c_str());
    if (!m.link_to.empty() && m.type == AE_IFREG) archive_entry_set_hardlink(e, m.link_to.c_str());
    EXPECT_GE(archive_write_header(a, e), ARCHIVE_WARN) << archive_error_string(a);
    if (file) {
      EXPECT_EQ(archive_write_data(a, m.content.data(), m.content.size()),
                static_cast<la_ssize_t>(m.content.size()));
    }
    archive_entry_free(e);
  }
  EXPECT_EQ(archive_write_close(a), ARCHIVE_OK);
  archive_write_free(a);
  out.resize(used);
  return out;
}

// One 512-byte header, for archives that no program writes.
inline std::string tar_header(const std::string& name, const std::string& octal_size,
                              char type = '0') {
  std::string header(512, '\0');
  header.replace(0, name.size(), name);
  header.replace(100, 7, "0000644");
  header.replace(108, 7, "0000000");
  header.replace(116, 7, "0000000");
  header.replace(124, octal_size.size(), octal_size);
  header.replace(136, 11, "00000000000");
  header[156] = type;
  header.replace(257, 6, std::string("ustar\0", 6));
  header.replace(263, 2, "00");
  header.replace(148, 8, "        ");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  char text[8];
  std::snprintf(text, sizeof text, "%06o", sum);
  header.replace(148, 7, std::string(text, 7));
  return header;
}

inline void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace winnow::datasets
