#include "viewer/app/program_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "viewer/app/elf_image.h"

namespace hitch::app {
namespace {

// A file's bytes for as long as the object lives.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status {};
    if (descriptor < 0) return;
    if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
      const auto size = static_cast<std::size_t>(status.st_size);
      void* start = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
      if (start != MAP_FAILED) bytes_ = {static_cast<const char*>(start), size};
    }
    close(descriptor);
  }
  ~MappedFile() {
    if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  std::string_view bytes() const { return bytes_; }

 private:
  std::string_view bytes_;
};

// A name or a string that only this allocator has.
using Mark = std::pair<std::string_view, std::string_view>;
constexpr std::array kAllocatorSymbols = {Mark{"je_malloc", "jemalloc"},
                                          Mark{"mallocx", "jemalloc"},
                                          Mark{"je_mallctl", "jemalloc"},
                                          Mark{"mi_malloc", "mimalloc"},
                                          Mark{"tc_malloc", "tcmalloc"},
                                          Mark{"TCMallocInternalMalloc", "tcmalloc"},
                                          Mark{"rpmalloc", "rpmalloc"},
                                          Mark{"scudo_malloc", "scudo"},
                                          Mark{"__scudo_default_options", "scudo"},
                                          Mark{"sn_malloc", "snmalloc"},
                                          Mark{"xxmalloc", "a Heap Layers allocator"},
                                          Mark{"dlmalloc", "dlmalloc"},
                                          Mark{"nedmalloc", "nedmalloc"},
                                          Mark{"__interceptor_malloc", "a sanitizer"}};
constexpr std::array kAllocatorTexts = {
    Mark{"<jemalloc>", "jemalloc"}, Mark{"mimalloc: ", "mimalloc"}, Mark{"tcmalloc: ", "tcmalloc"},
    Mark{"rpmalloc", "rpmalloc"}};

void read_symbols(const ElfImage& image, ProgramFacts& facts) {
  image.for_each_defined([&](std::string_view name) {
    if (name == "malloc") facts.defines_malloc = true;
    if (name == "_Znwm" || name == "_Znam") facts.defines_operator_new = true;
    if (name == "__asan_init" || name == "__tsan_init" || name == "__msan_init")
      facts.has_static_sanitizer = true;
    for (const auto& [symbol, allocator] : kAllocatorSymbols)
      if (facts.allocator.empty() && name == symbol) facts.allocator = allocator;
  });
  if (facts.defines_malloc && facts.allocator.empty()) {
    for (const auto& [text, allocator] : kAllocatorTexts)
      if (facts.allocator.empty() && image.has_section_bytes(".rodata", text))
        facts.allocator = allocator;
  }
}

void read_elf(std::string_view bytes, ProgramFacts& facts) {
  if (bytes.size() > EI_CLASS && bytes[EI_CLASS] == ELFCLASS32) {
    facts.kind = ProgramKind::kElf32;
    return;
  }
  const ElfImage image(bytes);
  if (!image.is_valid() || image.machine() != EM_X86_64) {
    facts.kind = ProgramKind::kOtherMachine;
    return;
  }
  facts.kind = ProgramKind::kElf;
  facts.interpreter = image.interpreter();
  facts.is_static = facts.interpreter.empty();
  facts.needed = image.needed();
  for (const std::string& library : facts.needed) {
    if (library.starts_with("libasan.so") || library.starts_with("libtsan.so") ||
        library.starts_with("libclang_rt.asan") || library.starts_with("libhwasan.so"))
      facts.asan_library = library;
  }
  read_symbols(image, facts);
}

void read_script(std::string_view bytes, ProgramFacts& facts) {
  facts.kind = ProgramKind::kScript;
  constexpr std::string_view kSpace = " \t";
  std::string_view line = bytes.substr(2, bytes.find('\n') - 2).substr(0, 255);
  line.remove_prefix(std::min(line.size(), line.find_first_not_of(kSpace)));
  const std::size_t end = std::min(line.size(), line.find_first_of(kSpace));
  facts.interpreter = line.substr(0, end);
  std::string_view rest = line.substr(end);
  rest.remove_prefix(std::min(rest.size(), rest.find_first_not_of(kSpace)));
  while (!rest.empty() && (rest.back() == ' ' || rest.back() == '\t' || rest.back() == '\r'))
    rest.remove_suffix(1);
  facts.interpreter_argument = rest;
}

}  // namespace

ProgramFacts inspect_program(const std::string& path, uid_t user, gid_t group) {
  ProgramFacts facts;
  facts.path = path;
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return facts;
  if (!S_ISREG(status.st_mode)) {
    facts.kind = ProgramKind::kNotAFile;
    return facts;
  }
  const MappedFile file(path);
  const std::string_view bytes = file.bytes();
  if (bytes.starts_with("MZ")) {
    facts.kind = ProgramKind::kWindows;
    return facts;
  }
  if (access(path.c_str(), X_OK) != 0) {
    facts.kind = ProgramKind::kNotExecutable;
    return facts;
  }
  facts.kind = ProgramKind::kOther;
  facts.is_set_user = ((status.st_mode & S_ISUID) != 0 && status.st_uid != user) ||
                      ((status.st_mode & S_ISGID) != 0 && (status.st_mode & S_IXGRP) != 0 &&
                       status.st_gid != group);
  facts.has_capabilities =
      user != 0 && getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
  if (bytes.starts_with(ELFMAG)) {
    read_elf(bytes, facts);
  } else if (bytes.starts_with("#!")) {
    read_script(bytes, facts);
  }
  return facts;
}

}  // namespace hitch::app
