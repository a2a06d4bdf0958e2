#include "viewer/app/diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf_bytes.h"
#include "temp_folder.h"
#include "viewer/app/find_program.h"

namespace hitch::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DiagnosisTest : public ::testing::Test {
 protected:
  Diagnosis look_at(const std::string& name, uid_t user = getuid(), const std::string& path = "") {
    return diagnose(find_program(name, path, user, getgid()), {name});
  }
  static Diagnosis of(const ProgramFacts& facts) { return diagnose({facts}, {facts.path}); }
  static ProgramFacts plain() {
    ProgramFacts facts;
    facts.path = "/opt/game";
    facts.kind = ProgramKind::kElf;
    facts.interpreter = "/proc/self/exe";
    return facts;
  }
  TempFolder folder_;
};

TEST_F(DiagnosisTest, HasNothingToSayOfAPlainProgram) {
  const Diagnosis found = of(plain());
  EXPECT_EQ(found.refuse_status, 0);
  EXPECT_EQ(found.cannot_record, "");
  EXPECT_THAT(found.warnings, IsEmpty());
  EXPECT_EQ(found.own_allocator, "");
}

TEST_F(DiagnosisTest, RefusesWhatIsNotFound) {
  const Diagnosis by_path = look_at(folder_ / "missing");
  EXPECT_EQ(by_path.refuse_status, 127);
  EXPECT_THAT(by_path.refusal, HasSubstr("no such file"));
  const Diagnosis by_name = look_at("missing", getuid(), folder_.path());
  EXPECT_EQ(by_name.refuse_status, 127);
  EXPECT_EQ(by_name.refusal, "missing is not found in PATH.");
}

TEST_F(DiagnosisTest, RefusesWhatIsNotExecutable) {
  const Diagnosis file = look_at(folder_.write("data", "x", false));
  EXPECT_EQ(file.refuse_status, 126);
  EXPECT_THAT(file.refusal, HasSubstr("chmod +x"));
  EXPECT_EQ(look_at(folder_.path()).refuse_status, 126);
}

TEST_F(DiagnosisTest, NamesAScriptsMissingInterpreter) {
  const Diagnosis missing = look_at(folder_.write("a.sh", "#!/nowhere/bash -e\n"));
  EXPECT_EQ(missing.refuse_status, 127);
  EXPECT_THAT(missing.refusal, HasSubstr("/nowhere/bash"));
  const Diagnosis windows = look_at(folder_.write("b.sh", "#!/bin/sh\r\necho\r\n"));
  EXPECT_EQ(windows.refuse_status, 127);
  EXPECT_THAT(windows.refusal, HasSubstr("Windows line endings"));
  const std::string data = folder_.write("data", "x", false);
  EXPECT_EQ(look_at(folder_.write("c.sh", "#!" + data + "\n")).refuse_status, 126);
}

TEST_F(DiagnosisTest, NamesAMissingLoader) {
  const Diagnosis found =
      look_at(folder_.write("a", elf_bytes({ELFCLASS64, EM_X86_64, "/nowhere/ld.so"})));
  EXPECT_EQ(found.refuse_status, 127);
  EXPECT_THAT(found.refusal, HasSubstr("/nowhere/ld.so"));
}

TEST_F(DiagnosisTest, SaysWhyNothingWillBeRecorded) {
  EXPECT_THAT(look_at(folder_.write("a", elf_bytes({}))).cannot_record,
              HasSubstr("statically linked"));
  EXPECT_THAT(look_at(folder_.write("b", elf_bytes({ELFCLASS32, EM_386, ""}))).cannot_record,
              HasSubstr("32-bit"));
  EXPECT_THAT(look_at(folder_.write("c", elf_bytes({ELFCLASS64, EM_AARCH64, ""}))).cannot_record,
              HasSubstr("not an x86-64 program"));
  EXPECT_THAT(
      look_at(folder_.write("d", elf_bytes({ELFCLASS64, EM_X86_64, "/lib/ld-musl-x86_64.so.1"})))
          .cannot_record,
      HasSubstr("musl"));
}

TEST_F(DiagnosisTest, SaysThatTheLoaderIgnoresLibrariesOfSetUserPrograms) {
  const std::string path = folder_.write("a", elf_bytes({ELFCLASS64, EM_X86_64, "/proc/self/exe"}));
  ASSERT_EQ(chmod(path.c_str(), 04755), 0);
  EXPECT_THAT(look_at(path, getuid() + 1).cannot_record, HasSubstr("set-user-ID"));
  EXPECT_EQ(look_at(path).cannot_record, "");
  ProgramFacts facts = plain();
  facts.has_capabilities = true;
  EXPECT_THAT(of(facts).cannot_record, HasSubstr("file capabilities"));
}

TEST_F(DiagnosisTest, NamesTheAllocatorInsideTheExecutable) {
  ProgramFacts facts = plain();
  facts.defines_malloc = true;
  facts.allocator = "jemalloc";
  EXPECT_EQ(of(facts).own_allocator, "jemalloc");
  EXPECT_THAT(of(facts).warnings,
              ElementsAre(HasSubstr("allocator inside the executable: jemalloc")));
  facts.allocator.clear();
  EXPECT_THAT(of(facts).warnings,
              ElementsAre(HasSubstr("allocator inside the executable: one of its own")));
  facts.defines_malloc = false;
  facts.allocator = "mimalloc";
  EXPECT_THAT(of(facts).warnings, ElementsAre(HasSubstr("mimalloc under its own names")));
}

TEST_F(DiagnosisTest, KeepsOutOfSanitizerBuilds) {
  ProgramFacts facts = plain();
  facts.asan_library = "libasan.so.8";
  EXPECT_THAT(of(facts).keep_out, HasSubstr("a sanitizer build (libasan.so.8)"));
  facts.asan_library.clear();
  facts.has_static_sanitizer = true;
  facts.defines_malloc = true;
  EXPECT_THAT(of(facts).keep_out, HasSubstr("a sanitizer build, whose runtime"));
  EXPECT_THAT(of(facts).warnings, IsEmpty());
}

TEST_F(DiagnosisTest, ExpectsOnlyFramesOfWindowsPrograms) {
  const std::string game = folder_.write("game.exe", "MZ", false);
  EXPECT_THAT(look_at(game).warnings, ElementsAre(HasSubstr("its heap is inside Wine")));
  const Diagnosis through_wine = diagnose({plain()}, {"/usr/bin/wine64", game});
  EXPECT_THAT(through_wine.warnings, ElementsAre(HasSubstr("frames and faults only")));
}

TEST_F(DiagnosisTest, NoticesAnAntiCheatNextToTheGame) {
  const std::string game =
      folder_.write("a/game", elf_bytes({ELFCLASS64, EM_X86_64, "/proc/self/exe"}));
  EXPECT_EQ(look_at(game).keep_out, "");
  const std::string library = folder_.write("a/EasyAntiCheat_x64.so", "");
  EXPECT_THAT(look_at(game).keep_out, HasSubstr(library));
  const Diagnosis through_launcher = diagnose({plain()}, {"reaper", "--", game});
  EXPECT_THAT(through_launcher.keep_out, HasSubstr(library));
}

class WhyTest : public DiagnosisTest {
 protected:
  static std::string why(const std::vector<ProgramFacts>& chain,
                         const std::vector<std::string>& command) {
    return why_never_loaded({}, chain, command);
  }
  std::vector<ProgramFacts> script(const std::string& text) {
    return find_program(folder_.write("run.sh", text), "", getuid(), getgid());
  }
};

TEST_F(WhyTest, NamesTheLineOfAScriptThatResetsTheVariable) {
  const auto sets = script("#!/bin/sh\n# LD_PRELOAD=comment\nexport LD_PRELOAD=/opt/fix.so\n./g\n");
  EXPECT_THAT(why(sets, {"run.sh"}), HasSubstr("run.sh, line 3"));
  EXPECT_THAT(why(sets, {"run.sh"}), HasSubstr(":$LD_PRELOAD"));
  EXPECT_THAT(why(script("#!/bin/sh\nunset LD_PRELOAD\n./g\n"), {"run.sh"}), HasSubstr("line 2"));
  EXPECT_THAT(why(script("#!/bin/sh\nexec env -i ./g\n"), {"run.sh"}), HasSubstr("line 2"));
}

TEST_F(WhyTest, AcceptsScriptsThatAppend) {
  const auto appends = script("#!/bin/sh\nexport LD_PRELOAD=/opt/fix.so:$LD_PRELOAD\n./g\n");
  EXPECT_THAT(why(appends, {"run.sh"}), HasSubstr("started no program that loaded the library"));
}

TEST_F(WhyTest, KnowsLaunchersThatDropTheVariable) {
  EXPECT_THAT(why({plain()}, {"flatpak", "run", "org.game"}), HasSubstr("flatpak starts programs"));
  EXPECT_THAT(why({plain()}, {"/usr/bin/sudo", "game"}), HasSubstr("sudo drops LD_PRELOAD"));
}

TEST_F(WhyTest, RepeatsWhatWasKnownBefore) {
  Diagnosis known;
  known.cannot_record = "it is static.";
  EXPECT_EQ(why_never_loaded(known, {plain()}, {"game"}), "it is static.");
  EXPECT_THAT(why({plain()}, {"game"}), HasSubstr("never allocated"));
}

TEST_F(WhyTest, ReadsNoResetsOutOfBinaries) {
  const std::string binary = folder_.write("game",
                                           "\x7f"
                                           "ELF\nLD_PRELOAD=x\n");
  EXPECT_EQ(find_preload_reset(binary).line, 0u);
  EXPECT_EQ(find_preload_reset(folder_ / "missing").line, 0u);
}

}  // namespace
}  // namespace hitch::app
