#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace winnow::datasets {

// Queries of the file system. Links are followed.
// Retry    Failures typical for network storage are retried (try_patiently).
// Out      What is missing, or may not be examined, is neither file nor folder.
// Errors   SystemError for persistent EIO and ESTALE, so that a set is not mistaken for another
//          one.
// Thread-safe.

bool file_at(const std::filesystem::path& path);
bool folder_at(const std::filesystem::path& path);
// folder_at() for an entry of a folder listing, which usually knows its type.
bool is_folder(const std::filesystem::directory_entry& entry);

// Size in bytes of the file at `path`; nullopt if there is nothing.
std::optional<std::uint64_t> size_at(const std::filesystem::path& path);

// The first bytes of a file, at most `most`; "" if it is missing or unreadable.
std::string first_bytes(const std::filesystem::path& path, std::size_t most);
// Whether a file is taken for an image: by the ending of its name (layout.h), or by its first bytes
// if it has none.
bool is_listed_image(std::string_view name, const std::filesystem::path& path);

// Calls `take` for each entry of a folder, in no order, until it returns false. No calls if it is
// no folder or may not be listed.
void for_each_in(const std::filesystem::path& folder,
                 const std::function<bool(const std::filesystem::directory_entry&)>& take);

}  // namespace winnow::datasets
