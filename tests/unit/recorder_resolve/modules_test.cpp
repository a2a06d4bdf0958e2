#include "recorder/resolve/modules.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

#include "recorder/resolve/sites.h"
#include "support/record_list.h"

namespace hitch::resolve {
namespace {

namespace trace = format::trace;

std::vector<std::uint64_t> module_record(std::uint64_t key, std::uint64_t start, std::uint64_t end,
                                         const std::string& path, const std::string& build_id) {
  format::ModuleRecord record{};
  record.head = format::make_head(format::BufferKind::kModule, key);
  record.bias = start;
  record.start = start;
  record.end = end;
  record.build_id_bytes = static_cast<std::uint8_t>(build_id.size());
  std::memcpy(record.build_id, build_id.data(), build_id.size());
  record.path_bytes = static_cast<std::uint16_t>(path.size());
  std::vector<std::uint64_t> words(sizeof(record) / 8 + format::words_for_bytes(path.size()));
  std::memcpy(words.data(), &record, sizeof(record));
  std::memcpy(words.data() + sizeof(record) / 8, path.data(), path.size());
  return words;
}

class ModulesTest : public ::testing::Test {
 protected:
  void load(std::uint64_t key, std::uint64_t start, std::uint64_t end, const std::string& path) {
    const auto words = module_record(key, start, end, path, "12345678901234567890");
    modules_.loaded(words.data(), static_cast<unsigned>(words.size()));
  }
  support::RecordList out_;
  ProcessFiles process_{getpid()};
  Modules modules_{out_, process_};
};

TEST_F(ModulesTest, AddressesBelongToTheModuleThatIsLoadedNow) {
  load(1, 0x10000, 0x20000, "/game/liba.so");
  load(2, 0x30000, 0x40000, "/game/libb.so");
  EXPECT_EQ(modules_.find(0xffff), 0u);
  EXPECT_EQ(modules_.find(0x10000), 1u);
  EXPECT_EQ(modules_.find(0x1ffff), 1u);
  EXPECT_EQ(modules_.find(0x20000), 0u);
  EXPECT_EQ(modules_.find(0x35000), 2u);
  EXPECT_EQ(modules_.describe(0x30123), "libb.so+0x123");
  EXPECT_EQ(modules_.describe(0x50000), "0x50000");
  modules_.unloaded(0x30000, 5);
  EXPECT_EQ(modules_.find(0x35000), 0u);
  load(6, 0x30000, 0x38000, "/game/libc.so");  // another one in the same place: a new id
  EXPECT_EQ(modules_.find(0x35000), 3u);
  ASSERT_EQ(out_.all<trace::ModuleGone>().size(), 1u);
  EXPECT_EQ(out_.all<trace::ModuleGone>()[0].id, 1u);
  EXPECT_EQ(out_.all<trace::ModuleGone>()[0].unloaded, 5u);
}

TEST_F(ModulesTest, OnlyAnotherModuleReusesAddresses) {
  load(1, 0x10000, 0x20000, "/game/liba.so");
  modules_.unloaded(0x10000, 2);
  load(3, 0x10000, 0x20000, "/game/liba.so");
  EXPECT_TRUE(modules_.take_reused().empty());
  modules_.unloaded(0x10000, 4);
  const auto words = module_record(5, 0x18000, 0x28000, "/game/libb.so", "another build id....");
  modules_.loaded(words.data(), static_cast<unsigned>(words.size()));
  const std::vector<AddressRange> reused = modules_.take_reused();
  ASSERT_EQ(reused.size(), 1u);
  EXPECT_EQ(reused[0].start, 0x10000u);
  EXPECT_EQ(reused[0].end, 0x20000u);
  EXPECT_TRUE(modules_.take_reused().empty());
}

TEST_F(ModulesTest, SitesOfReusedAddressesGetNewIds) {
  Stacks stacks(out_, modules_);
  Sites sites(out_, modules_, stacks);
  load(1, 0x10000, 0x20000, "/game/liba.so");
  EXPECT_EQ(sites.id({0x10100, 0, SiteClass::kAlloc}, format::Op::kMalloc), 0u);
  EXPECT_EQ(sites.id({0x30100, 0, SiteClass::kAlloc}, format::Op::kMalloc), 1u);
  sites.write_new(1, 0);
  sites.forget({0x10000, 0x20000});
  EXPECT_EQ(sites.id({0x30100, 0, SiteClass::kAlloc}, format::Op::kMalloc), 1u);
  EXPECT_EQ(sites.id({0x10100, 0, SiteClass::kAlloc}, format::Op::kMalloc), 2u);
  sites.forget({0x30000, 0x40000});
  EXPECT_EQ(sites.id({0x10100, 0, SiteClass::kAlloc}, format::Op::kMalloc), 2u);
}

TEST_F(ModulesTest, SitesAreToldApartByTheirStacks) {
  Stacks stacks(out_, modules_);
  Sites sites(out_, modules_, stacks);
  const Stacks::Node one = stacks.child(stacks.child(0, 0x30100), 0x10100);
  const Stacks::Node other = stacks.child(stacks.child(0, 0x30200), 0x10100);
  EXPECT_EQ(sites.id({0x10100, one, SiteClass::kAlloc}, format::Op::kMalloc), 0u);
  EXPECT_EQ(sites.id({0x10100, other, SiteClass::kAlloc}, format::Op::kMalloc), 1u);
  EXPECT_EQ(sites.id({0x10100, 0, SiteClass::kAlloc}, format::Op::kMalloc), 2u);
  EXPECT_EQ(sites.id({0x10100, one, SiteClass::kRealloc}, format::Op::kRealloc), 3u);
  EXPECT_EQ(sites.id({0x10100, one, SiteClass::kAlloc}, format::Op::kMalloc), 0u);
  sites.write_new(1, 0);
  const auto written = out_.all<trace::Site>();
  ASSERT_EQ(written.size(), 4u);
  EXPECT_EQ(written[0].stack, 1u);
  EXPECT_EQ(written[1].stack, 2u);
  EXPECT_EQ(written[2].stack, 0u);
  EXPECT_EQ(written[3].stack, 1u);
  EXPECT_EQ(out_.all<trace::Stack>().size(), 2u);
}

TEST_F(ModulesTest, CallsBeforeALibrarysNameAreItsOwn) {
  Stacks stacks(out_, modules_);
  Sites sites(out_, modules_, stacks);
  sites.id({0x10100, 0, SiteClass::kAlloc}, format::Op::kMalloc);
  sites.write_new(1, 0);
  load(2, 0x10000, 0x20000, "/game/liba.so");
  sites.write_found();
  sites.write_found();
  const auto written = out_.all<trace::Site>();
  ASSERT_EQ(written.size(), 2u);
  EXPECT_EQ(written[0].module, 0u);
  EXPECT_EQ(written[1].id, written[0].id);
  EXPECT_EQ(written[1].module, modules_.find(0x10100));
  EXPECT_NE(written[1].module, 0u);
}

TEST_F(ModulesTest, AFileFoundUnderAnotherNameIsTheModuleThatWasTold) {
  load(1, 0x10000, 0x20000, "/lib/liba.so");
  load(2, 0x10000, 0x20000, "/usr/lib/liba.so");
  EXPECT_EQ(out_.all<trace::Module>().size(), 1u);
  EXPECT_TRUE(out_.all<trace::ModuleGone>().empty());
}

TEST_F(ModulesTest, AModuleThatIsToldTwiceStaysOne) {
  load(1, 0x10000, 0x20000, "/game/liba.so");
  load(2, 0x10000, 0x20000, "/game/liba.so");
  EXPECT_EQ(out_.all<trace::Module>().size(), 1u);
}

TEST_F(ModulesTest, AModuleThatLiesOverAnotherEndsIt) {
  load(1, 0x10000, 0x20000, "/game/liba.so");
  load(2, 0x18000, 0x28000, "/game/libb.so");  // the unload of liba was lost
  EXPECT_EQ(modules_.find(0x11000), 0u);
  EXPECT_EQ(modules_.find(0x19000), 2u);
  EXPECT_EQ(out_.all<trace::ModuleGone>().size(), 1u);
}

TEST_F(ModulesTest, NonsenseIsIgnored) {
  load(1, 0x20000, 0x10000, "/game/liba.so");
  const std::uint64_t cut[2] = {format::make_head(format::BufferKind::kModule, 1), 0};
  modules_.loaded(cut, 2);
  EXPECT_TRUE(out_.all<trace::Module>().empty());
}

TEST_F(ModulesTest, ThisProcessIsFoundInItsMaps) {
  const auto self = reinterpret_cast<std::uint64_t>(&module_record);
  EXPECT_EQ(modules_.find(self), 0u);
  modules_.look_again(7, 0);
  const std::uint64_t module = modules_.find(self);
  ASSERT_NE(module, 0u);
  const trace::Module& found = out_.all<trace::Module>()[module - 1];
  EXPECT_EQ(found.path, process_.executable());
  EXPECT_EQ(found.loaded, 7u);
  // The function's address in the file lies in one of the executable segments.
  bool inside = false;
  ASSERT_EQ(found.segments.size() % 3, 0u);
  for (std::size_t i = 0; i < found.segments.size(); i += 3) {
    const std::uint64_t address = self - found.bias;
    inside = inside ||
             (address >= found.segments[i] && address < found.segments[i] + found.segments[i + 1]);
  }
  EXPECT_TRUE(inside);
  // malloc's home is found as well, with a build-id.
  const std::uint64_t libc = modules_.find(reinterpret_cast<std::uint64_t>(&getpid));
  if (libc != 0) {
    EXPECT_EQ(out_.all<trace::Module>()[libc - 1].build_id.size(), 20u);
  }
}

TEST_F(ModulesTest, LooksAreLimited) {
  for (int i = 0; i < 8; ++i) modules_.look_again(1, 1000);
  const std::size_t known = out_.all<trace::Module>().size();
  EXPECT_GT(known, 0u);
  modules_.look_again(1, 1100);  // refused; nothing to observe but that it returns
  EXPECT_EQ(out_.all<trace::Module>().size(), known);
}

TEST_F(ModulesTest, SitesAreWrittenOnceWithTheirModule) {
  load(1, 0x400000, 0x500000, "/game/game");
  Stacks stacks(out_, modules_);
  Sites sites(out_, modules_, stacks);
  const std::uint32_t a = sites.id({0x400100, 0, SiteClass::kAlloc}, format::Op::kNew);
  const std::uint32_t b = sites.id({0x400100, 0, SiteClass::kFree}, format::Op::kDelete);
  EXPECT_NE(a, b);
  EXPECT_EQ(sites.id({0x400100, 0, SiteClass::kAlloc}, format::Op::kMalloc), a);
  sites.write_new(1, 0);
  sites.write_new(1, 0);
  ASSERT_EQ(out_.all<trace::Site>().size(), 2u);
  EXPECT_EQ(out_.all<trace::Site>()[a].address, 0x400100u);
  EXPECT_EQ(out_.all<trace::Site>()[a].module, 1u);
  EXPECT_EQ(out_.all<trace::Site>()[a].op, static_cast<std::uint64_t>(format::Op::kNew));
}

TEST(ElfFile, GarbageIsRefused) {
  char path[] = "/tmp/hitch-elf-XXXXXX";
  const int fd = mkstemp(path);
  ASSERT_GE(fd, 0);
  unlink(path);
  ElfSummary summary;
  EXPECT_FALSE(read_elf(fd, summary));
  std::string bytes(200, '\xff');
  std::memcpy(bytes.data(),
              "\x7f"
              "ELF\x02\x01",
              6);
  ASSERT_EQ(write(fd, bytes.data(), bytes.size()), 200);
  EXPECT_FALSE(read_elf(fd, summary));
  close(fd);
}

}  // namespace
}  // namespace hitch::resolve
