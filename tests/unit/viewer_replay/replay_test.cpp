#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::vector<std::string> files_in(const std::string& folder, const std::string& extension) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!extension.empty() && entry.path().extension() != extension) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    std::ostringstream bytes;
    bytes << in.rdbuf();
    files.push_back(bytes.str());
  }
  return files;
}

int run(const std::string& bytes) {
  return LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

TEST(Replay, TheCorpusDoesNoHarm) {
  const auto files = files_in(std::string(HITCH_TESTS_DIR) + "/fuzz/corpus/trace_reader", "");
  ASSERT_GE(files.size(), 10u);
  for (const std::string& bytes : files) EXPECT_EQ(run(bytes), 0);
}

TEST(Replay, MutatedGoldenTracesDoNoHarm) {
  const auto files = files_in(std::string(HITCH_TESTS_DIR) + "/golden/v1", ".hitch");
  ASSERT_GE(files.size(), 5u);
  for (unsigned seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::string bytes = files[seed % files.size()];
    for (unsigned i = 0; i <= random() % 16; ++i) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    if (seed % 3 == 0) bytes.resize(random() % bytes.size());
    EXPECT_EQ(run(bytes), 0);
  }
}

}  // namespace
