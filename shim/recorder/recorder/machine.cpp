#include "recorder/recorder/machine.h"

#include <sys/utsname.h>
#include <unistd.h>

#include "recorder/resolve/process_files.h"

namespace hitch::recorder {

namespace {

std::string first_line(const std::string& path) {
  std::string text = resolve::read_small_file(path);
  const std::size_t end = text.find('\n');
  if (end != std::string::npos) text.resize(end);
  return text;
}

std::string cpu_model() {
  const std::string text = resolve::read_small_file("/proc/cpuinfo");
  const std::size_t at = text.find("model name");
  const std::size_t colon = text.find(": ", at);
  if (at == std::string::npos || colon == std::string::npos) return "unknown";
  return text.substr(colon + 2, text.find('\n', colon) - colon - 2);
}

// "always [madvise] never" -> "madvise"
std::string chosen(const std::string& text) {
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']', open);
  if (open == std::string::npos || close == std::string::npos) return "unknown";
  return text.substr(open + 1, close - open - 1);
}

}  // namespace

Facts machine_facts() {
  utsname kernel{};
  uname(&kernel);
  std::string governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  if (governor.empty()) governor = "none";
  return {
      {"machine.cpu", cpu_model()},
      {"machine.cores", std::to_string(sysconf(_SC_NPROCESSORS_ONLN))},
      {"machine.governor", governor},
      {"machine.kernel", std::string(kernel.sysname) + " " + kernel.release},
      {"machine.thp", chosen(first_line("/sys/kernel/mm/transparent_hugepage/enabled"))},
  };
}

}  // namespace hitch::recorder
