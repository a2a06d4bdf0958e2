#include "viewer/app/program_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf_bytes.h"
#include "temp_folder.h"
#include "viewer/app/find_program.h"

namespace hitch::app {
namespace {

using ::testing::Contains;

class ProgramFileTest : public ::testing::Test {
 protected:
  ProgramFacts inspect(const std::string& path) const {
    return inspect_program(path, getuid(), getgid());
  }
  TempFolder folder_;
};

TEST_F(ProgramFileTest, TellsWhatCannotBeRun) {
  EXPECT_EQ(inspect(folder_ / "missing").kind, ProgramKind::kMissing);
  EXPECT_EQ(inspect(folder_.path()).kind, ProgramKind::kNotAFile);
  EXPECT_EQ(inspect(folder_.write("data", "x", false)).kind, ProgramKind::kNotExecutable);
  EXPECT_EQ(inspect(folder_.write("text", "echo hello")).kind, ProgramKind::kOther);
  EXPECT_EQ(inspect(folder_.write("empty", "")).kind, ProgramKind::kOther);
}

TEST_F(ProgramFileTest, TellsElfClassAndMachine) {
  EXPECT_EQ(inspect(folder_.write("a", elf_bytes({ELFCLASS32, EM_386, ""}))).kind,
            ProgramKind::kElf32);
  EXPECT_EQ(inspect(folder_.write("b", elf_bytes({ELFCLASS64, EM_AARCH64, ""}))).kind,
            ProgramKind::kOtherMachine);
  const ProgramFacts facts = inspect(folder_.write("c", elf_bytes({ELFCLASS64, EM_X86_64, ""})));
  EXPECT_EQ(facts.kind, ProgramKind::kElf);
  EXPECT_TRUE(facts.is_static);
}

TEST_F(ProgramFileTest, ReadsTheLoader) {
  const ProgramFacts facts =
      inspect(folder_.write("a", elf_bytes({ELFCLASS64, EM_X86_64, "/lib/ld-musl-x86_64.so.1"})));
  EXPECT_FALSE(facts.is_static);
  EXPECT_EQ(facts.interpreter, "/lib/ld-musl-x86_64.so.1");
}

TEST_F(ProgramFileTest, ReadsTheFirstLineOfScripts) {
  const ProgramFacts plain = inspect(folder_.write("a", "#!/bin/sh\nexec ./game\n"));
  EXPECT_EQ(plain.kind, ProgramKind::kScript);
  EXPECT_EQ(plain.interpreter, "/bin/sh");
  EXPECT_EQ(plain.interpreter_argument, "");
  const ProgramFacts with_words = inspect(folder_.write("b", "#! \t/usr/bin/env -S python3 -u \n"));
  EXPECT_EQ(with_words.interpreter, "/usr/bin/env");
  EXPECT_EQ(with_words.interpreter_argument, "-S python3 -u");
  EXPECT_EQ(inspect(folder_.write("c", "#!")).interpreter, "");
  EXPECT_EQ(inspect(folder_.write("d", "#!/bin/sh\r\n")).interpreter, "/bin/sh\r");
}

TEST_F(ProgramFileTest, KnowsWindowsPrograms) {
  EXPECT_EQ(inspect(folder_.write("game.exe", "MZ\x90", false)).kind, ProgramKind::kWindows);
}

TEST_F(ProgramFileTest, CountsSetUserOnlyWhenItChangesTheUser) {
  const std::string path = folder_.write("a", elf_bytes({}));
  ASSERT_EQ(chmod(path.c_str(), 04755), 0);
  EXPECT_FALSE(inspect_program(path, getuid(), getgid()).is_set_user);
  EXPECT_TRUE(inspect_program(path, getuid() + 1, getgid()).is_set_user);
}

TEST_F(ProgramFileTest, ReadsItsOwnExecutable) {
  const ProgramFacts facts = inspect("/proc/self/exe");
  EXPECT_EQ(facts.kind, ProgramKind::kElf);
  EXPECT_FALSE(facts.is_static);
  EXPECT_THAT(facts.interpreter, ::testing::HasSubstr("ld-linux-x86-64"));
  EXPECT_THAT(facts.needed, Contains("libc.so.6"));
}

TEST_F(ProgramFileTest, SurvivesAnyBytes) {
  std::ifstream in("/proc/self/exe", std::ios::binary);
  std::string whole(1 << 20, '\0');
  in.read(whole.data(), static_cast<std::streamsize>(whole.size()));
  whole.resize(static_cast<std::size_t>(in.gcount()));
  std::uint32_t random = 99;
  for (int round = 0; round < 50; ++round) {
    std::string bytes = whole.substr(0, 1 + random % whole.size());
    for (int i = 0; i < 100; ++i) {
      random = random * 1664525 + 1013904223;
      const std::size_t limit =
          i % 2 == 0 ? std::min<std::size_t>(bytes.size(), 1024) : bytes.size();
      if (i > 3) bytes[random % limit] = static_cast<char>(random >> 24);
    }
    const ProgramFacts facts = inspect(folder_.write("damaged", bytes));
    EXPECT_NE(facts.kind, ProgramKind::kMissing);
  }
}

#ifdef OWN_MALLOC_PROGRAM
TEST_F(ProgramFileTest, NamesTheAllocatorInside) {
  const ProgramFacts facts = inspect(OWN_MALLOC_PROGRAM);
  EXPECT_TRUE(facts.defines_malloc);
  EXPECT_EQ(facts.allocator, "jemalloc");
  EXPECT_FALSE(inspect("/proc/self/exe").defines_malloc);
}
#endif

class FindProgramTest : public ProgramFileTest {
 protected:
  std::vector<ProgramFacts> find(const std::string& name, const std::string& path) const {
    return find_program(name, path, getuid(), getgid());
  }
};

TEST_F(FindProgramTest, SearchesThePathForExecutables) {
  folder_.write("one/game", "data", false);
  const std::string game = folder_.write("two/game", elf_bytes({}));
  const std::string path = (folder_ / "one") + ":" + (folder_ / "two");
  EXPECT_EQ(find("game", path).front().path, game);
  EXPECT_EQ(find("game", folder_ / "one").front().kind, ProgramKind::kNotExecutable);
  EXPECT_EQ(find("other", path).front().kind, ProgramKind::kMissing);
  EXPECT_EQ(find("other", path).front().path, "other");
}

TEST_F(FindProgramTest, FollowsScriptsToWhatMapsTheLibrary) {
  const std::string inner = folder_.write("bin/inner", elf_bytes({}));
  const std::string script = folder_.write("run.sh", "#!/usr/bin/env -S inner --flag\n");
  const auto chain = find(script, folder_ / "bin");
  ASSERT_EQ(chain.size(), 2u);
  EXPECT_EQ(chain[0].path, script);
  EXPECT_EQ(chain[1].path, inner);
}

TEST_F(FindProgramTest, DoesNotFollowScriptsForEver) {
  const std::string script = folder_ / "loop";
  folder_.write("loop", "#!" + script + "\n");
  EXPECT_LE(find(script, "").size(), 8u);
}

}  // namespace
}  // namespace hitch::app
