#pragma once

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>
#include <vector>

namespace winnow::test {

// Whether tests that run a sample of their cases run all of them: WINNOW_TEST_ALL=1.
inline bool run_all() {
  const char* const all = std::getenv("WINNOW_TEST_ALL");
  return all != nullptr && std::string_view(all) == "1";
}

// `few`, or `all` if all cases are run. Prints how many of how many.
inline std::size_t some_of(std::string_view what, std::size_t all, std::size_t few) {
  const std::size_t taken = run_all() || all < few ? all : few;
  std::printf("%.*s: %zu of %zu\n", static_cast<int>(what.size()), what.data(), taken, all);
  return taken;
}

// `few` of the cases, or all. Takes one at random from each of `few` equal parts, always the same.
template <class T>
std::vector<T> some_of(std::string_view what, const std::vector<T>& all, std::size_t few) {
  const std::size_t taken = some_of(what, all.size(), few);
  std::vector<T> out;
  std::mt19937_64 draw(1);
  for (std::size_t part = 0; part < taken; ++part) {
    const std::size_t begin = part * all.size() / taken;
    const std::size_t end = (part + 1) * all.size() / taken;
    out.push_back(all[begin + draw() % (end - begin)]);
  }
  return out;
}

}  // namespace winnow::test
