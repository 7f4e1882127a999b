#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace winnow::datasets {

// What the file system says, links followed, and asked again as in reading where it fails as
// network storage does (try_patiently). Nothing there, and what may not be looked at, is neither
// file nor folder. All throw SystemError for EIO and ESTALE that stay: a set must not be taken for
// another because of them. Safe from many threads.

bool file_at(const std::filesystem::path& path);
bool folder_at(const std::filesystem::path& path);
// The same of what a folder lists, which says mostly itself what it is.
bool is_folder(const std::filesystem::directory_entry& entry);

// Bytes of what is at `path`; nothing where there is nothing.
std::optional<std::uint64_t> size_at(const std::filesystem::path& path);

// The first bytes of a file, at most so many; "" where there is none, or none that can be read.
std::string first_bytes(const std::filesystem::path& path, std::size_t most);
// Whether a file is taken for an image: by the ending of its name (layout.h), or where that has
// none by its first bytes.
bool is_listed_image(std::string_view name, const std::filesystem::path& path);

// Calls `take` with each thing in a folder, in no order, until it returns false. Nothing is in what
// is no folder or may not be listed.
void for_each_in(const std::filesystem::path& folder,
                 const std::function<bool(const std::filesystem::directory_entry&)>& take);

}  // namespace winnow::datasets
