"""The linter of shapes finds what it should, however it is written, and nothing else."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

LINTER = pathlib.Path(__file__).resolve().parents[2] / "cmake" / "check_shape.py"


def statements(count):
    return "".join(f"  use({i});\n" for i in range(count))


def function(head, lines):
    """A function of this many lines, of which `head` may take several."""
    return f"{head} {{\n{statements(lines - 1 - len(head.splitlines()))}}}\n"


class Shape(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="winnow-test-")
        self.addCleanup(holder.cleanup)
        self.root = pathlib.Path(holder.name)

    def lint(self, *more, **files):
        """Findings for {path with __ for a slash: text}. A file without a suffix is a .cpp."""
        for name, text in files.items():
            path = self.root / (name.replace("__", "/") + ("" if "_h" in name[-2:] else ".cpp"))
            path = path.with_name(path.name.removesuffix("_h") + ".h") if name.endswith("_h") else path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, "-B", LINTER, self.root, *more], capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        findings = [] if "nothing found" in done.stdout else done.stdout.splitlines()
        self.assertEqual(done.returncode, 1 if findings and "--information" not in more else 0)
        return findings

    def expect_function(self, head, prefix="", suffix="", name="", at=0):
        """61 lines are caught, 60 are not."""
        for lines, caught in ((60, 0), (61, 1)):
            found = self.lint(train__a=prefix + function(head, lines) + suffix)
            self.assertEqual(len(found), caught, f"{head}: {found}")
            if caught:
                self.assertIn(f"train/a.cpp:{at or prefix.count(chr(10)) + 1}: function {name} has 61 lines", found[0])

    def test_functions(self):
        self.expect_function("int f()", name="f")
        self.expect_function("static int f(int a,\n             int b) noexcept", name="f")
        self.expect_function("template <class T, class = std::enable_if_t<(sizeof(T) > 1)>>\nT f(T a)", name="f")
        self.expect_function("auto f(Options o = {}) -> int", name="f")
        self.expect_function("bool operator==(const A& a, const A& b)", name="operator==")
        self.expect_function("A::A(int a) : a_{a}, b_(a), c_{{1, 2}}", name="A::A")
        self.expect_function("int A::f() const&", prefix='#include "a.h"\nnamespace x {\nnamespace {\n', suffix="}\n}\n", name="A::f")
        self.expect_function("const auto f = [](int a)", suffix=";\n", name="f")
        self.expect_function('extern "C" void f(int)', name="f")

    def test_functions_inside_others(self):
        for before, after in (("class A {\n public:\n", "};\n"), ("template <class T>\nstruct A : B<T> {\n", "};\n"),
                              ('extern "C" {\n', "}\n"), ("class A final {\n  struct B {\n", "  };\n};\n")):  # fmt: skip
            self.expect_function("int f()", prefix=before, suffix=after, name="f")
        table = "const Row kRows[] = {\n{\"x\", [](int a) {\n" + statements(58) + "}},\n};\n"
        self.assertEqual(len(self.lint(train__a=table)), 0)
        self.assertEqual(len(self.lint(train__a=table.replace("use(3);", "use(3);\nuse(3);"))), 1)

    def test_parameters(self):
        six = "int a, std::map<int, int> b, std::function<int(int, int)> c, int d = f(1, 2), const X& e = {1, 2}, int* f"
        for head, tail in (("void f({})", "{\n}\n"), ("template <class A, class B>\nA::A({})", ": a_(1, 2), b_{3} {\n}\n"),
                           ("auto f = []({})", "{\n};\n"), ("bool X::operator()({}) const", "{\n}\n")):  # fmt: skip
            self.assertEqual(self.lint(train__a=f"{head.format(six)} {tail}"), [], head)
            found = self.lint(train__a=f"{head.format(six + ', int g')} {tail}")
            self.assertEqual([words.split(" has ")[1] for words in found], ["7 parameters, 6 are allowed"], head)
        self.assertEqual(self.lint(train__a=f"void f({six}, int g);\nint main() {{\n  f(1, 2, 3, 4, 5, 6, 7);\n}}\n"), [])

    def test_brackets_that_are_none(self):
        for line in ('"}"', '"{\\"}"', "'}'", "'\\''", 'R"({ " })"', 'R"x(})" })x"', "1'000'000", "'\"'"):
            self.expect_function("int f()", prefix=f"auto x = {line};\n", name="f")
            found = self.lint(train__a=function("int f()", 61).replace("use(5)", f"use({line})"))
            self.assertEqual(len(found), 1, line)
        self.expect_function("int f()", prefix="// }}} it's\n/* { don't\n */\n#define A {\n#define B \\\n  {{\n", name="f")

    def test_comments_and_blank_lines_count_in_functions(self):
        self.assertEqual(len(self.lint(train__a=function("int f()", 60).replace("use(3);", "use(3);\n\n"))), 1)

    def test_long_values_are_no_functions(self):
        self.assertEqual(self.lint(train__a="const int kA[] = {\n" + "1,\n" * 100 + "};\nconst Table kB{\n" + "f(2),\n" * 100 + "};\n"), [])
        self.assertEqual(self.lint(train__a="enum class A : int {\n" + "".join(f"a{i},\n" for i in range(100)) + "};\n"), [])

    def test_classes(self):
        for lines, caught in ((250, 0), (251, 1)):
            body = "".join(f"  int a{i};\n" for i in range(lines - 2))
            for head in ("class A", "template <class T>\nstruct A", "class A final : public B, private C<int>", "namespace x { class A"):
                text = f"{head} {{\n{body}}};\n".replace(">\nstruct", "> struct") + ("}" if "namespace" in head else "")
                found = self.lint(train__a_h=text)
                self.assertEqual(len(found), caught, head)
                if caught:
                    self.assertIn("train/a.h:1: class A has 251 lines", found[0])

    def test_members_elsewhere_count_for_their_class(self):
        head = "class A {\n" + "".join(f"  void f{i}();\n" for i in range(48)) + "};\n"  # 50 lines
        members = "".join(function(f"void A::f{i}()", 50) for i in range(4))
        other = function("void B::g()", 50) + function("void g()", 50)
        self.assertEqual(self.lint(train__a_h=head, train__a=members.replace("use", "a"), train__b=other), [])
        found = self.lint(train__a_h=head, train__a=members.replace("use", "a"), train__b=function("int A::g()", 2))
        self.assertEqual(len(found), 1)
        self.assertIn("class A has 252 lines", found[0])

    def test_structs(self):
        eight = "int a, b;\nstd::map<int, int> c;\nint d = 1;\nint e{2};\nstd::function<void(int, int)> f;\nfloat g[3];\nV h{1, 2};\n"
        more = ("static constexpr int kA = 1;\nusing B = int;\nint f(int) const;\nbool g() { return a; }\nenum class E { x, y };\n"
                "struct In { int a, b; };\nfriend bool operator==(const A&, const A&) = default;\n")  # fmt: skip
        for name in ("Options", "TrainOptions", "KernelArguments", "Settings"):
            self.assertEqual(self.lint(train__a_h=f"struct {name} {{\n{eight}{more}}};\n"), [])
            for ninth in ("int z;", "E z = E::x;", "In z;", "std::vector<int> z = {1, 2};", "const char* z = nullptr;"):
                found = self.lint(train__a_h=f"struct {name} {{\n{eight}{more}{ninth}\n}};\n")
                self.assertEqual(len(found), 1, ninth)
                self.assertIn(f"struct {name} has 9 fields", found[0])
        self.assertEqual(self.lint(train__a_h=f"struct Other {{\n{eight}int z;\n}};\n"), [])

    def test_structs_of_kernels(self):
        nine = "struct Pool {\n" + "".join(f"int a{i};\n" for i in range(9)) + "};\n"
        self.assertEqual(len(self.lint(train__backend__onednn__kernels_h=nine)), 1)
        pointers = "struct Table {\n" + "".join(f"void (*a{i})(int);\n" for i in range(9)) + "};\n"
        self.assertEqual(self.lint(train__backend__onednn__kernels_h=pointers), [])
        self.assertEqual(self.lint(train__backend__onednn__kernels_h=nine.replace("int a8;", "")), [])

    def test_duplicates(self):
        lines = [f"call_{i}(a, b);" for i in range(12)]
        own = "int f() {\n" + "one();\n" + "\n".join(lines[:10]) + "\n}\n"
        spread = "#include <x>\nint g() {\n  two();\n" + "\n\n  // said\n  {\n  }\n".join(lines[:10]).replace("(a,", "(a,  ") + "\n}\n"
        found = self.lint(train__a=own, common__b=spread)
        self.assertEqual(len(found), 1)
        self.assertIn("common/b.cpp:4: duplicate, 10 lines equal those from train/a.cpp:3", found[0])
        self.assertEqual(self.lint(train__a=own.replace("call_4(a, b)", "call_4(a, c)"), common__b=spread), [])
        self.assertEqual(self.lint(train__a=own.replace(lines[9], ""), common__b=spread), [])

    def test_long_duplicates_are_one_finding(self):
        text = "void f() {\n" + statements(30) + "}\n"
        self.assertEqual(len(self.lint(train__a=text, train__b=text)), 1)

    def test_a_string_is_no_comment_in_duplicates(self):
        text = "\n".join(f'say("// {i}");' for i in range(12))
        self.assertEqual(self.lint(train__a=text, train__b=text.replace("// ", "// other ")), [])

    def test_whole_options_stand_in_few_places(self):
        place = "void f{}(const TrainOptions& a);\n"
        fifteen = "".join(place.format(i) for i in range(15))
        self.assertEqual(self.lint(train__a_h=fifteen, train__b="// const TrainOptions&\nvoid g(TrainOptions a, const Options& b);\n"), [])
        for more in (place.format(15), "const train::TrainOptions& a = b;\n", "auto f = [](const  TrainOptions & a) {\n};\n"):
            found = self.lint(train__b="int a;\n" + more)
            self.assertEqual(len(found), 1, more)
            self.assertIn("train/b.cpp:2: const TrainOptions& in 16 places, 15 are allowed: train/a.h:1,", found[0])

    def test_what_is_said_goes_one_way(self):
        for line in ('fmt::print(stderr, "x");', 'std::cerr << "x";', "std::clog << 1;", 'perror("x");', "::write(STDERR_FILENO, a, 1);",
                     'std::fprintf(stderr, "x");', "std::fflush(stderr);", "(void)!write( STDERR_FILENO, a, 1);"):  # fmt: skip
            found = self.lint(tools__a=f"void f() {{\n  {line}\n}}\n")
            self.assertEqual(len(found), 1, line)
            self.assertIn("tools/a.cpp:2:", found[0])
        for line in ('say_line("stderr");', "// std::cerr", "isatty(STDERR_FILENO);", "to_stderr(text);"):
            self.assertEqual(self.lint(tools__a=f"void f() {{\n  {line}\n}}\n"), [], line)
        self.assertEqual(self.lint(tools__a="int a;\n", common__to_stderr="void f() { ::write(STDERR_FILENO, a, 1); }\n"), [])

    def test_information_and_folders(self):
        for folder in ("common", "datasets", "dedup", "pipeline", "train", "tools"):
            self.assertEqual(len(self.lint(**{f"{folder}__a": function("int f()", 70)})), 1, folder)
            (self.root / folder / "a.cpp").write_text("int a;\n")
        self.assertEqual(self.lint(tests__a=function("int f()", 70)), [])
        self.assertEqual(self.lint("--folders", "train", tools__a=function("int f()", 70)), [])
        self.assertEqual(len(self.lint("--folders", "tools", "--information")), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
