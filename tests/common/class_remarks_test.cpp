#include "common/class_remarks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::class_remarks_test {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Names = std::vector<std::string>;

TEST(ClassRemarks, SpellingsOfOneNameHaveOneKey) {
  const std::vector<Names> alike{{"Cat", "cat", " cat", "cat ", "CAT\t"},
                                 {"a  b", "A b"},
                                 {"caf\u00E9", "cafe\u0301", "CAF\u00C9"},
                                 {"\u30AC", "\u30AB\u3099"},
                                 {"\uD55C\uAE00", "\u1112\u1161\u11AB\u1100\u1173\u11AF"},
                                 {"\u1EC7", "e\u0323\u0302"},
                                 {"\u0439", "\u0438\u0306"}};
  for (const Names& names : alike) {
    for (const std::string& name : names) {
      EXPECT_EQ(spelling_key(name), spelling_key(names.front())) << name;
    }
  }
  const Names different{"cat",          "cats",   "c at",   "cafe",   "caf\u00E9", "\u65E5\u672C",
                        "\u4E2D\u56FD", "\u30AB", "\u30AC", "\u0438", "\u0439",    "7",
                        "07",           ""};
  for (const std::string& a : different) {
    for (const std::string& b : different) {
      EXPECT_EQ(spelling_key(a) == spelling_key(b), a == b) << a << " " << b;
    }
  }
}

TEST(ClassRemarks, EachIsSaidWithWhatToDo) {
  // Counts of none, train, val, test.
  EXPECT_THAT(class_remarks(Names{"a", "b"}, {{{}, {1, 1}, {1, 0}, {}}}), IsEmpty());
  EXPECT_THAT(class_remarks(Names{"a", "b"}, {{{3, 1}, {}, {}, {}}}), IsEmpty());
  EXPECT_THAT(class_remarks(Names{"a", "b"}, {{{}, {}, {1, 0}, {0, 1}}}), IsEmpty());
  EXPECT_THAT(class_remarks(Names{}, {}), IsEmpty());
  EXPECT_THAT(class_remarks(Names{"a", "b", "c"}, {{{}, {1, 1, 0}, {}, {}}}),
              ElementsAre("1 of 3 classes has no image"));
  EXPECT_THAT(class_remarks(Names{"0", "1", "2", "3"}, {{{}, {0, 1, 0, 1}, {}, {}}}),
              ElementsAre(HasSubstr("2 of 4 classes have no image: labels are numbers with gaps")));
  EXPECT_THAT(
      class_remarks(Names{"Cat", "cat", "dog"}, {{{}, {1, 0, 1}, {0, 1, 1}, {}}}),
      ElementsAre(
          HasSubstr("'Cat' and 'cat'; if they are one class, spell them alike"),
          HasSubstr(
              "1 class is in val or test but not in train, so training never sees it: 'cat'")));
  EXPECT_THAT(class_remarks(Names{"a", "b", "c", "d", "e"}, {{{}, {1}, {}, {0, 1, 1, 1, 1}}}),
              ElementsAre(AllOf(HasSubstr("4 classes are in val or test"),
                                HasSubstr("'b', 'c', 'd' and 1 more"))));
}

}  // namespace winnow::class_remarks_test
