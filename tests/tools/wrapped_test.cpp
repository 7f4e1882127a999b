#include "tools/wrapped.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

namespace winnow::tools::wrapped_test {

constexpr const char* kHelp =
    "Thin a cache, and tell what went and what stays for it, with the reason of each\n"
    "Usage: winnow thin [OPTIONS] cache\n"
    "\n"
    "Options:\n"
    "  -h,--help                   Print this help message and exit, which is what you see here\n"
    "  --keep TEXT:{best,first,largest,sharpest,majority,never-this,nor-that}=best\n"
    "                              Which one of a group stays, and for which reason that is so\n"
    "\n"
    "Two lines of one paragraph,\n"
    "which are filled anew as they are narrower.\n"
    "\n"
    "Examples:\n"
    "  winnow thin cache --keep largest --report a-page.html --list removed.csv --json\n"
    "  # a remark\n";

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string words_of(const std::string& text) {
  std::string words;
  for (const char c : text) {
    if (c != ' ' && c != '\n' && c != '\\') words += c;
  }
  return words;
}

TEST(WrappedHelp, NoLineIsWiderAndNoWordIsLost) {
  for (const std::size_t columns : {40, 41, 60, 80, 100}) {
    const std::string text = wrapped_help(kHelp, columns);
    EXPECT_EQ(words_of(text), words_of(kHelp)) << columns;
    for (const std::string& line : lines_of(text)) EXPECT_LE(line.size(), columns) << line;
  }
}

TEST(WrappedHelp, GoesOnBelowItself) {
  EXPECT_EQ(wrapped_help(kHelp, 60),
            "Thin a cache, and tell what went and what stays for it, with\n"
            "the reason of each\n"
            "Usage: winnow thin [OPTIONS] cache\n"
            "\n"
            "Options:\n"
            "  -h,--help                   Print this help message and\n"
            "                              exit, which is what you see\n"
            "                              here\n"
            "  --keep TEXT:{best,first,largest,sharpest,majority,\n"
            "      never-this,nor-that}=best\n"
            "                              Which one of a group stays,\n"
            "                              and for which reason that is\n"
            "                              so\n"
            "\n"
            "Two lines of one paragraph, which are filled anew as they\n"
            "are narrower.\n"
            "\n"
            "Examples:\n"
            "  winnow thin cache --keep largest --report a-page.html \\\n"
            "      --list removed.csv --json\n"
            "  # a remark\n");
}

TEST(WrappedHelp, ARemarkThatDoesNotFitStandsBeforeItsCommand) {
  const std::string command = "  winnow thin cache --keep largest";
  EXPECT_EQ(wrapped_help(command + "   # what stays is large\n", 40),
            "  # what stays is large\n" + command + "\n");
  EXPECT_EQ(wrapped_help(command + "   # what stays is large\n", 80),
            command + "   # what stays is large\n");
}

TEST(WrappedHelp, IsAsItIsWhereColumnsAreNone) {
  EXPECT_EQ(wrapped_help(kHelp, 0), kHelp);
  EXPECT_EQ(wrapped_help(kHelp, 39), kHelp);
  EXPECT_EQ(wrapped_help("", 80), "");
}

TEST(WrappedHelp, LettersOfSeveralBytesTakeOneColumn) {
  const std::string text = "  name  ××××××××××××××××××××××××××××××××\n";
  EXPECT_EQ(wrapped_help(text, 40), text);
}

TEST(HelpColumns, AreWhatCOLUMNSSays) {
  ::setenv("COLUMNS", "72", 1);
  EXPECT_EQ(help_columns(STDOUT_FILENO), 72);
  ::setenv("COLUMNS", "wide", 1);
  EXPECT_NE(help_columns(STDOUT_FILENO), 72);
  ::unsetenv("COLUMNS");
}

TEST(HelpColumns, AreEightyWithoutATerminal) {
  ::unsetenv("COLUMNS");
  EXPECT_EQ(help_columns(-1), 80);
}

}  // namespace winnow::tools::wrapped_test
