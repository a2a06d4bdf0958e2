#include "recorder/write/trace_name.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "recorder/write/file_sink.h"

namespace hitch::write {
namespace {

class TraceName : public ::testing::Test {
 protected:
  TraceName() {
    char pattern[] = "/tmp/hitch-names-XXXXXX";
    root_ = mkdtemp(pattern);
  }
  ~TraceName() override { std::filesystem::remove_all(root_); }
  std::string create(const NameRequest& request) {
    opened_ = create_trace(request, 1'700'000'000);
    if (opened_.descriptor >= 0) close(opened_.descriptor);
    return opened_.path;
  }
  std::string root_;
  OpenedTrace opened_;
};

TEST_F(TraceName, HasProgramDateAndTimeAndNeverRepeats) {
  const NameRequest request{"", root_ + "/deep/down", "/opt/game/bin/combat", ""};
  const std::string first = create(request);
  std::string shape = first;
  for (char& c : shape) c = c >= '0' && c <= '9' ? '#' : c;
  std::string expected = root_ + "/deep/down/combat-########-######.hitch";
  for (char& c : expected) c = c >= '0' && c <= '9' ? '#' : c;
  EXPECT_EQ(shape, expected) << first;
  const std::string second = create(request);
  EXPECT_EQ(second, first.substr(0, first.size() - 6) + "-2.hitch");
  EXPECT_EQ(create(request), first.substr(0, first.size() - 6) + "-3.hitch");
}

TEST_F(TraceName, AFileThatIsBeingWrittenIsLocked) {
  const OpenedTrace opened = create_trace({root_ + "/run.hitch", "", "game", ""}, 1'700'000'000);
  ASSERT_GE(opened.descriptor, 0);
  const int other = open(opened.path.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(other, 0);
  EXPECT_NE(flock(other, LOCK_EX | LOCK_NB), 0);
  close(opened.descriptor);
  EXPECT_EQ(flock(other, LOCK_EX | LOCK_NB), 0);
  close(other);
}

TEST_F(TraceName, AnOutputFileIsNeverOverwritten) {
  const std::string wanted = root_ + "/run.hitch";
  std::ofstream(wanted) << "precious";
  EXPECT_EQ(create({wanted, "", "game", ""}), root_ + "/run-2.hitch");
  EXPECT_EQ(opened_.note, wanted + " exists; writing " + root_ + "/run-2.hitch");
  EXPECT_EQ(create({root_ + "/plain", "", "game", ""}), root_ + "/plain");
  EXPECT_TRUE(opened_.note.empty());
  EXPECT_EQ(create({root_ + "/plain", "", "game", ""}), root_ + "/plain-2");
  std::ifstream in(wanted);
  std::string word;
  in >> word;
  EXPECT_EQ(word, "precious");
}

TEST_F(TraceName, AMissingDirectoryOfTheOutputIsSaid) {
  create({root_ + "/none/run.hitch", "", "game", ""});
  EXPECT_EQ(opened_.descriptor, -1);
  EXPECT_NE(opened_.error.find("/none/run.hitch"), std::string::npos);
}

TEST_F(TraceName, AClosedCurrentDirectoryGivesWayToTheStateDirectory) {
  const std::string closed = root_ + "/closed";
  ASSERT_EQ(mkdir(closed.c_str(), 0555), 0);
  ASSERT_EQ(chmod(root_.c_str(), 0777), 0);
  // In a child: root may write anywhere, and the current directory is the whole process'.
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && setuid(65534) != 0) _exit(2);
    if (chdir(closed.c_str()) != 0) _exit(3);
    const std::string path = create({"", "", "game", root_ + "/state"});
    const bool right = opened_.descriptor >= 0 && path.rfind(root_ + "/state/game-", 0) == 0 &&
                       opened_.note.find("not writable") != std::string::npos;
    _exit(right ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(FileSink, AFullDeviceIsReportedAsFull) {
  const int fd = open("/dev/full", O_WRONLY);
  ASSERT_GE(fd, 0);
  FileSink sink(fd, "");
  EXPECT_FALSE(sink.append("x", 1));
  EXPECT_TRUE(sink.is_full());
  EXPECT_FALSE(sink.trouble().empty());
}

TEST(FileSink, KeepsPiecesUnderTheSameName) {
  char directory[] = "/tmp/hitch-sink-XXXXXX";
  ASSERT_NE(mkdtemp(directory), nullptr);
  const std::string path = std::string(directory) + "/t.hitch";
  const int fd = open(path.c_str(), O_RDWR | O_CREAT, 0600);
  FileSink sink(fd, path);
  ASSERT_TRUE(sink.append("headoldnew", 10));
  ASSERT_TRUE(sink.keep_only({{0, 4}, {7, 3}}));
  ASSERT_TRUE(sink.append("!", 1));
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "headnew!");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory), {}), 1);
  std::filesystem::remove_all(directory);
}

TEST(FileSink, WithoutAPlaceForTheNewFileTheOldOneStays) {
  char directory[] = "/tmp/hitch-sink-XXXXXX";
  ASSERT_NE(mkdtemp(directory), nullptr);
  const std::string path = std::string(directory) + "/t.hitch";
  const std::string in_the_way = path + ".new." + std::to_string(getpid());
  std::ofstream(in_the_way) << "somebody's";
  const int fd = open(path.c_str(), O_RDWR | O_CREAT, 0600);
  FileSink sink(fd, path);
  ASSERT_TRUE(sink.append("headoldnew", 10));
  EXPECT_FALSE(sink.keep_only({{0, 4}, {7, 3}}));
  EXPECT_FALSE(sink.trouble().empty());
  EXPECT_EQ(std::filesystem::file_size(path), 10u);
  EXPECT_EQ(std::filesystem::file_size(in_the_way), 10u);
  std::filesystem::remove_all(directory);
}

TEST(FileSink, AFileSizeLimitIsAnErrorLikeAFullDisk) {
  // In a child: the limit and the ignored signal are of the whole process.
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100, 100};
    setrlimit(RLIMIT_FSIZE, &limit);
    char path[] = "/tmp/hitch-limit-XXXXXX";
    const int fd = mkstemp(path);
    unlink(path);
    const std::string block(60, 'x');
    FileSink sink(fd, "");
    bool right = sink.append(block.data(), block.size());
    right = right && !sink.append(block.data(), block.size()) && sink.is_full();
    right = right && sink.truncate(60);
    struct stat status {};
    fstat(fd, &status);
    right = right && status.st_size == 60;
    _exit(right ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace hitch::write
