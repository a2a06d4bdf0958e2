// Writes the golden traces: write_golden FOLDER. Run it only for a new format version: the files of
// an old one must never change.
#include <fstream>
#include <iostream>
#include <string>

#include "support/sample_traces.h"

namespace {

bool write(const std::string& path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << bytes;
  return static_cast<bool>(out.flush());
}

}  // namespace

int main(int argc, char** argv) {
  using namespace hitch::support;
  if (argc != 2) {
    std::cerr << "usage: write_golden FOLDER\n";
    return 2;
  }
  const std::string folder = std::string(argv[1]) + "/";
  std::string cut = sample_gaps().bytes(false);
  cut.resize(cut.size() - 1000);
  const bool written = write(folder + "mixed.hitch", sample_mixed().bytes()) &&
                       write(folder + "vsync.hitch", sample_vsync().bytes()) &&
                       write(folder + "windows.hitch", sample_windows().bytes()) &&
                       write(folder + "empty.hitch", sample_empty().bytes()) &&
                       write(folder + "gaps.hitch", sample_gaps().bytes()) &&
                       write(folder + "cut.hitch", cut);
  if (!written) std::cerr << "write_golden: cannot write into " << folder << '\n';
  return written ? 0 : 1;
}
