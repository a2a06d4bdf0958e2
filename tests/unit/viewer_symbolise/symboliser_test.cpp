#include "viewer/symbolise/symboliser.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "viewer/symbolise/elf_file.h"
#include "viewer/symbolise/offset_name.h"

namespace hitch::symbolise {
namespace {

namespace fs = std::filesystem;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// The unstripped library is loaded once; its variants have the same code at the same addresses.
class SymboliserTest : public ::testing::Test {
 protected:
  void SetUp() override {
    library_ = dlopen(PROBE_FULL, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << dlerror();
    link_map* map = nullptr;
    ASSERT_EQ(dlinfo(library_, RTLD_DI_LINKMAP, &map), 0);
    bias_ = map->l_addr;
    std::string pattern = fs::temp_directory_path() / "hitch-symbols-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    fs::remove_all(folder_);
    dlclose(library_);
  }

  std::uint64_t call(const char* function) const {
    auto* probe = reinterpret_cast<void* (*)()>(dlsym(library_, function));
    return probe == nullptr ? 0 : reinterpret_cast<std::uint64_t>(probe());
  }
  std::uint64_t address_of(const char* function) const {
    return reinterpret_cast<std::uint64_t>(dlsym(library_, function)) - bias_;
  }
  model::Module module(const std::string& path) const {
    model::Module result;
    result.path = path;
    result.build_id = ElfFile(PROBE_FULL).build_id();
    result.bias = bias_;
    return result;
  }
  Symbol name(const std::string& path, const char* function, Settings settings = {}) {
    Symboliser symboliser(std::move(settings));
    const auto id = symboliser.add_module(module(path));
    Symbol symbol = symboliser.return_address(id, call(function));
    notes_ = symboliser.notes();
    return symbol;
  }
  static std::string variant(const char* name) { return std::string(PROBE_DIR "/") + name; }
  static unsigned line_of(const std::string& mark) {
    std::ifstream in(PROBE_SOURCE);
    std::string line;
    for (unsigned number = 1; std::getline(in, line); ++number)
      if (line.ends_with("// MARK " + mark)) return number;
    return 0;
  }

  void* library_ = nullptr;
  std::uint64_t bias_ = 0;
  fs::path folder_;
  std::vector<std::string> notes_;
};

TEST_F(SymboliserTest, ReadsFunctionFileAndLineFromDwarf) {
  const Symbol symbol = name(PROBE_FULL, "probe_exported");
  EXPECT_EQ(symbol.quality, Quality::kDwarf);
  EXPECT_EQ(symbol.function, "probe_exported");
  EXPECT_THAT(symbol.file, EndsWith("probe.cpp"));
  EXPECT_EQ(symbol.line, line_of("exported"));
  EXPECT_EQ(symbol.start, address_of("probe_exported"));
  EXPECT_TRUE(symbol.inlined.empty());
  EXPECT_TRUE(notes_.empty());
}

TEST_F(SymboliserTest, ShortensTemplatesAndKeepsTheFullName) {
  const Symbol symbol = name(PROBE_FULL, "probe_pool");
  EXPECT_EQ(symbol.function, "probe::Pool<probe::Particle>::take");
  EXPECT_THAT(symbol.full, HasSubstr("take(int)"));
  EXPECT_THAT(symbol.full, HasSubstr("std::allocator<probe::Particle>"));
  EXPECT_EQ(symbol.line, line_of("pool"));
}

TEST_F(SymboliserTest, QualifiesNamesThatArePrivateToAFile) {
  const Symbol symbol = name(PROBE_FULL, "probe_private");
  EXPECT_EQ(symbol.quality, Quality::kDwarf);
  EXPECT_EQ(symbol.function, "probe::(anon)::Local::in_private_class");
}

TEST_F(SymboliserTest, ListsInlinedFunctionsInnermostFirstEachWithItsLine) {
  for (const std::string& path : {std::string(PROBE_FULL), variant("no_aranges.so")}) {
    const Symbol symbol = name(path, "probe_inlined");
    EXPECT_EQ(symbol.function, "probe::outer");
    EXPECT_EQ(symbol.line, line_of("outer"));
    ASSERT_EQ(symbol.inlined.size(), 2u) << path;
    EXPECT_EQ(symbol.inlined[0].function, "probe::innermost");
    EXPECT_EQ(symbol.inlined[0].line, line_of("innermost"));
    EXPECT_EQ(symbol.inlined[1].function, "probe::middle");
    EXPECT_EQ(symbol.inlined[1].line, line_of("middle"));
    EXPECT_THAT(symbol.inlined[1].file, EndsWith("probe.cpp"));
  }
}

TEST_F(SymboliserTest, ReadsSymbolsWithoutDebugInformation) {
  const Symbol symbol = name(variant("symbols.so"), "probe_hidden");
  EXPECT_EQ(symbol.quality, Quality::kSymbol);
  EXPECT_EQ(symbol.function, "hidden_function");
  EXPECT_EQ(symbol.full, "hidden_function(int)");
  EXPECT_EQ(symbol.line, 0u);
}

TEST_F(SymboliserTest, ReadsCompressedMiniSymbols) {
  ASSERT_TRUE(fs::exists(variant("mini.so")));
  const Symbol symbol = name(variant("mini.so"), "probe_hidden");
  EXPECT_EQ(symbol.quality, Quality::kSymbol);
  EXPECT_EQ(symbol.function, "hidden_function");
}

TEST_F(SymboliserTest, NamesFunctionsOfStrippedFilesByTheirStart) {
  const std::uint64_t start = name(PROBE_FULL, "probe_hidden").start;
  const Symbol symbol = name(variant("stripped.so"), "probe_hidden");
  EXPECT_EQ(symbol.quality, Quality::kStart);
  EXPECT_EQ(symbol.start, start);
  EXPECT_EQ(symbol.function, "stripped.so!fn@" + to_hex_number(start));
  EXPECT_THAT(symbol.near, StartsWith("probe_"));
  EXPECT_TRUE(symbol.full.empty());
}

TEST_F(SymboliserTest, KeepsExportedNamesOfStrippedFiles) {
  const Symbol symbol = name(variant("stripped.so"), "probe_exported");
  EXPECT_EQ(symbol.quality, Quality::kSymbol);
  EXPECT_EQ(symbol.function, "probe_exported");
}

TEST_F(SymboliserTest, FindsSplitDebugInformationByBuildId) {
  const std::string hex = to_hex(ElfFile(PROBE_FULL).build_id());
  ASSERT_EQ(hex.size(), 40u);
  const fs::path tree = folder_ / ".build-id" / hex.substr(0, 2);
  fs::create_directories(tree);
  fs::copy_file(variant("probe.debug"), tree / (hex.substr(2) + ".debug"));
  const Symbol symbol = name(variant("stripped.so"), "probe_inlined", {{folder_.string()}, false});
  EXPECT_EQ(symbol.function, "probe::outer");
  EXPECT_EQ(symbol.line, line_of("outer"));
  EXPECT_EQ(symbol.inlined.size(), 2u);
}

TEST_F(SymboliserTest, TakesASymbolFileOfAnyNameByBuildId) {
  fs::create_directories(folder_ / "deep" / "er");
  const fs::path plain = folder_ / "deep" / "er" / "anything";
  fs::copy_file(variant("probe.debug"), plain);
  EXPECT_EQ(name(variant("stripped.so"), "probe_hidden", {{plain.string()}, false}).function,
            "hidden_function");
  EXPECT_EQ(name(variant("stripped.so"), "probe_hidden", {{folder_.string()}, false}).function,
            "hidden_function");
  EXPECT_EQ(name(variant("stripped.so"), "probe_hidden", {{PROBE_FULL}, false}).function,
            "hidden_function");
}

TEST_F(SymboliserTest, FollowsTheDebugLinkOfFilesWithoutBuildId) {
  Symboliser symboliser({});
  model::Module linked = module(variant("linked.so"));
  linked.build_id.clear();
  const auto id = symboliser.add_module(linked);
  EXPECT_EQ(symboliser.return_address(id, call("probe_hidden")).function, "hidden_function");
}

TEST_F(SymboliserTest, ResolvesAFileThatIsGoneFromASymbolFile) {
  const Symbol symbol =
      name("/nowhere/libprobe.so", "probe_hidden", {{variant("probe.debug")}, false});
  EXPECT_EQ(symbol.function, "hidden_function");
  EXPECT_EQ(symbol.module, "libprobe.so");
  EXPECT_TRUE(notes_.empty());
}

TEST_F(SymboliserTest, ShowsOffsetsAndSaysSoWhenTheFileIsGone) {
  const std::uint64_t address = call("probe_hidden");
  const Symbol symbol = name("/nowhere/libprobe.so (deleted)", "probe_hidden");
  EXPECT_EQ(symbol.quality, Quality::kOffset);
  EXPECT_EQ(symbol.function, "libprobe.so+" + to_hex_number(address - bias_));
  ASSERT_EQ(notes_.size(), 1u);
  EXPECT_THAT(notes_[0], HasSubstr("/nowhere/libprobe.so cannot be read here"));
}

TEST_F(SymboliserTest, NeverNamesFunctionsFromAFileThatChanged) {
  Symboliser symboliser({});
  model::Module changed = module(PROBE_FULL);
  changed.build_id[0] = static_cast<char>(changed.build_id[0] ^ 1);
  const auto id = symboliser.add_module(changed);
  const Symbol symbol = symboliser.return_address(id, call("probe_hidden"));
  EXPECT_EQ(symbol.quality, Quality::kOffset);
  ASSERT_EQ(symboliser.notes().size(), 1u);
  EXPECT_THAT(symboliser.notes()[0], HasSubstr("has changed since the recording"));
  EXPECT_THAT(symboliser.notes()[0], HasSubstr(to_hex(changed.build_id).substr(0, 12)));
  symboliser.return_address(id, call("probe_pool"));
  EXPECT_EQ(symboliser.notes().size(), 1u);
}

TEST_F(SymboliserTest, NoticesAChangedFileWithoutBuildIdByItsSegments) {
  Symboliser symboliser({});
  model::Module changed = module(PROBE_FULL);
  changed.build_id.clear();
  changed.segments = {{0x1000, 0x10, 0x1000}};
  const auto id = symboliser.add_module(changed);
  EXPECT_EQ(symboliser.return_address(id, call("probe_hidden")).quality, Quality::kOffset);
  EXPECT_EQ(symboliser.notes().size(), 1u);
}

TEST_F(SymboliserTest, NamesAddressesThatAreInNothing) {
  Symboliser symboliser({});
  EXPECT_EQ(symboliser.return_address(Symboliser::kNoModule, 0x7f00).function, "0x7f00");
  model::Module vdso;
  vdso.path = "[vdso]";
  vdso.bias = 0x1000;
  const auto id = symboliser.add_module(vdso);
  EXPECT_EQ(symboliser.return_address(id, 0x1234).function, "[vdso]+0x234");
  EXPECT_TRUE(symboliser.notes().empty());
  const auto probe = symboliser.add_module(module(PROBE_FULL));
  EXPECT_EQ(symboliser.return_address(probe, bias_ + 0x7000000).quality, Quality::kOffset);
}

TEST_F(SymboliserTest, LooksAtTheCallNotAtWhatFollowsIt) {
  Symboliser symboliser({});
  const auto id = symboliser.add_module(module(PROBE_FULL));
  const std::uint64_t start = address_of("probe_exported") + bias_;
  EXPECT_EQ(symboliser.instruction(id, start).function, "probe_exported");
  EXPECT_NE(symboliser.return_address(id, start).function, "probe_exported");
}

TEST_F(SymboliserTest, ComplainsAboutSymbolFilesThatAreNone) {
  const std::string text = folder_ / "notes.txt";
  std::ofstream(text) << "hello";
  name(PROBE_FULL, "probe_hidden", {{text, (folder_ / "missing").string()}, false});
  ASSERT_EQ(notes_.size(), 2u);
  EXPECT_THAT(notes_[0], HasSubstr("not an ELF file"));
  EXPECT_THAT(notes_[1], HasSubstr("no such file or folder"));
}

TEST_F(SymboliserTest, SaysWhyDebuginfodCannotBeAsked) {
  unsetenv("DEBUGINFOD_URLS");
  const Symbol symbol = name(variant("stripped.so"), "probe_hidden", {{}, true});
  EXPECT_EQ(symbol.quality, Quality::kStart);
  ASSERT_EQ(notes_.size(), 1u);
  EXPECT_THAT(notes_[0], HasSubstr("DEBUGINFOD_URLS names no server"));
}

TEST_F(SymboliserTest, ReopensFilesBeyondItsLimit) {
  Symboliser symboliser({});
  std::vector<Symboliser::Module> modules;
  for (std::size_t i = 0; i < kMaxOpenModules + 3; ++i)
    modules.push_back(symboliser.add_module(module(variant("symbols.so"))));
  for (const auto id : modules)
    EXPECT_EQ(symboliser.return_address(id, call("probe_hidden")).function, "hidden_function");
  EXPECT_EQ(symboliser.return_address(modules[0], call("probe_exported")).function,
            "probe_exported");
}

TEST_F(SymboliserTest, SurvivesDamagedFiles) {
  std::ifstream in(PROBE_FULL, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  const std::string path = folder_ / "damaged.so";
  std::uint32_t random = 12345;
  for (int round = 0; round < 60; ++round) {
    std::string bytes = whole;
    for (int i = 0; i < 200; ++i) {
      random = random * 1664525 + 1013904223;
      bytes[random % bytes.size()] = static_cast<char>(random >> 24);
    }
    if (round % 3 == 0) bytes.resize(random % bytes.size());
    std::ofstream(path, std::ios::binary) << bytes;
    Symboliser symboliser({});
    model::Module damaged = module(path);
    damaged.build_id.clear();
    const auto id = symboliser.add_module(damaged);
    for (const char* function : {"probe_hidden", "probe_inlined", "probe_pool", "probe_string"})
      EXPECT_FALSE(symboliser.return_address(id, call(function)).function.empty());
  }
}

}  // namespace
}  // namespace hitch::symbolise
