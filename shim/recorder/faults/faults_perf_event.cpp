// Page faults, switches and samples of code from perf_event_open(2), opened and read by the
// recorder alone. For each processor the process's threads have three events that share one ring:
//
//   page faults, each with address and instruction; with context switches, new and ended threads;
//   page faults that did I/O; a millisecond of computing time
//
// Threads that start later inherit them. An event that is inherited must belong to a processor to
// have a ring, hence one of each for every processor. A fourth event, on the first thread alone,
// tells the end of every 64th fault and so what a fault takes in this game.
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <unordered_map>

#include "recorder/faults/fault_source.h"
#include "recorder/faults/perf_event.h"
#include "recorder/faults/perf_ring.h"

namespace hitch::faults {

namespace {

constexpr std::size_t kMostRingPages = 512;  // 2 MiB: 40 ms of the fastest faulting there is
constexpr std::size_t kLeastRingPages = 8;
constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kMostRingBytes = std::size_t{64} << 20;  // of all processors together
constexpr std::size_t kEndRingPages = 4;
constexpr std::size_t kMostFollowing = 4096;  // descriptors of threads that are followed
constexpr std::uint64_t kSampleNs = 1'000'000;
// "0-3,8" of /sys/devices/system/cpu/online.
std::vector<int> online_processors() {
  std::vector<int> processors;
  std::ifstream file("/sys/devices/system/cpu/online");
  for (std::string range; std::getline(file, range, ',');) {
    const std::size_t dash = range.find('-');
    const int first = std::atoi(range.c_str());
    const int last = dash == std::string::npos ? first : std::atoi(range.c_str() + dash + 1);
    for (int i = first; i <= last; ++i) processors.push_back(i);
  }
  return processors;
}

int paranoid_level() {
  std::ifstream file("/proc/sys/kernel/perf_event_paranoid");
  int level = 2;
  file >> level;
  return level;
}

std::string own_path() {
  char path[4096];
  const ssize_t bytes = readlink("/proc/self/exe", path, sizeof path);
  return bytes > 0 ? std::string(path, static_cast<std::size_t>(bytes)) : "hitchtrace-record";
}

// What stands in the way, and the command that removes it.
std::string explain(int error) {
  const int level = paranoid_level();
  if (error == ENOSYS) return "this kernel has no perf events";
  if ((error == EACCES || error == EPERM) && level > 2) {
    return "kernel.perf_event_paranoid is " + std::to_string(level) +
           "; type: sudo sysctl kernel.perf_event_paranoid=2, or: sudo setcap cap_perfmon+ep " +
           own_path();
  }
  if (error == EACCES || error == EPERM) {
    return "perf_event_open is refused, as the seccomp filter of a container does; run outside of "
           "it, or start it with --cap-add PERFMON";
  }
  if (error == EMFILE) return "perf events need more open files: raise ulimit -n";
  return std::string("perf_event_open fails (") + std::strerror(error) + ")";
}

void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

class PerfEventFaults final : public FaultSource {
 public:
  PerfEventFaults(const SourceConfig& config, const TickBridge& bridge)
      : config_(config), bridge_(bridge) {}
  ~PerfEventFaults() override {
    for (const int descriptor : descriptors_) close(descriptor);
    for (const auto& [thread, descriptors] : following_) {
      for (const int descriptor : descriptors) close(descriptor);
    }
  }
  PerfEventFaults(const PerfEventFaults&) = delete;
  PerfEventFaults& operator=(const PerfEventFaults&) = delete;

  // 0, or the errno of what failed.
  int open();

  SourceKind kind() const override { return SourceKind::kPerfEvent; }
  std::string name() const override { return "perf_event"; }
  bool sees_system_calls() const override { return !exclude_kernel_; }
  void read(std::vector<KernelEvent>& out) override;
  SourceCounts counts() const override { return counts_; }
  Pagemap* pagemap() override { return &pagemap_; }
  void follow(pid_t thread) override;
  void unfollow(pid_t thread) override;

 private:
  enum class Role : std::uint8_t { kFault, kMajor, kSample, kEnd };

  static KernelEventKind kind_of(Role role) {
    switch (role) {
      case Role::kMajor:
        return KernelEventKind::kMajor;
      case Role::kSample:
        return KernelEventKind::kSample;
      case Role::kEnd:
        return KernelEventKind::kFaultEnd;
      case Role::kFault:
        break;
    }
    return KernelEventKind::kFault;
  }
  perf_event_attr attributes_of(Role role) const;
  int open_role(Role role, pid_t thread, int processor);
  int open_leaders();
  int map_rings();
  int open_others();
  void open_end_ring();
  void take(const perf_event_header& header, const char* payload, std::size_t bytes,
            std::vector<KernelEvent>& out);

  SourceConfig config_;
  const TickBridge& bridge_;
  std::vector<int> processors_;
  std::vector<int> descriptors_;
  std::unordered_map<pid_t, std::vector<int>> following_;
  std::size_t following_count_ = 0;
  std::vector<int> leaders_;  // by processor: the event whose ring the others share; -1: none
  std::vector<PerfRing> rings_;
  std::unordered_map<std::uint64_t, Role> roles_;
  SourceCounts counts_;
  Pagemap pagemap_;
  bool exclude_kernel_ = false;
  bool inherit_thread_ = true;
};

perf_event_attr PerfEventFaults::attributes_of(Role role) const {
  switch (role) {
    case Role::kFault: {
      perf_event_attr attributes = software_event(PERF_COUNT_SW_PAGE_FAULTS, exclude_kernel_);
      attributes.inherit = 1;
      attributes.inherit_thread = inherit_thread_ ? 1 : 0;
      attributes.context_switch = 1;
      attributes.task = 1;
      attributes.sample_id_all = 1;
      return attributes;
    }
    case Role::kMajor:
      return software_event(PERF_COUNT_SW_PAGE_FAULTS_MAJ, exclude_kernel_);
    case Role::kSample: {
      perf_event_attr attributes = software_event(PERF_COUNT_SW_TASK_CLOCK, true);
      attributes.sample_period = kSampleNs;
      return attributes;
    }
    case Role::kEnd:
      break;
  }
  perf_event_attr attributes = software_event(PERF_COUNT_SW_PAGE_FAULTS_MIN, exclude_kernel_);
  attributes.sample_period = kFaultEndEvery;
  return attributes;
}

// The descriptor, or minus an errno.
int PerfEventFaults::open_role(Role role, pid_t thread, int processor) {
  const int descriptor = open_event(attributes_of(role), thread, processor);
  if (descriptor < 0) return -errno;
  std::uint64_t id = 0;
  if (ioctl(descriptor, PERF_EVENT_IOC_ID, &id) == 0) roles_[id] = role;
  return descriptor;
}

// The faults of the first thread, on each processor: the events whose rings the others share. A
// ring must exist before another event can be sent to it.
int PerfEventFaults::open_leaders() {
  for (const int processor : processors_) {
    const int descriptor = open_role(Role::kFault, config_.threads.front(), processor);
    // A processor that was switched off meanwhile.
    if (descriptor < 0 && descriptor != -ENODEV) return -descriptor;
    leaders_.push_back(descriptor < 0 ? -1 : descriptor);
    if (descriptor >= 0) descriptors_.push_back(descriptor);
  }
  return 0;
}

int PerfEventFaults::map_rings() {
  std::size_t pages = kMostRingPages;
  while (pages > kLeastRingPages && pages * kPageBytes * leaders_.size() > kMostRingBytes)
    pages /= 2;
  for (;; pages /= 2) {
    rings_.clear();
    int error = 0;
    for (const int leader : leaders_) {
      if (leader < 0) continue;
      PerfRing ring;
      if (!ring.map(leader, pages)) {
        error = errno;
        break;
      }
      rings_.push_back(std::move(ring));
    }
    if (error == 0 || pages == kLeastRingPages) return error;
  }
}

// Threads that ran before the events were opened; those they start inherit.
int PerfEventFaults::open_others() {
  for (const pid_t thread : config_.threads) {
    if (thread == config_.threads.front()) continue;
    for (std::size_t i = 0; i < processors_.size(); ++i) {
      if (leaders_[i] < 0) continue;
      const int descriptor = open_role(Role::kFault, thread, processors_[i]);
      if (descriptor == -ESRCH || descriptor == -ENODEV) break;  // it has ended meanwhile
      if (descriptor < 0) return -descriptor;
      descriptors_.push_back(descriptor);
      if (ioctl(descriptor, PERF_EVENT_IOC_SET_OUTPUT, leaders_[i]) != 0) return errno;
    }
  }
  return 0;
}

void PerfEventFaults::follow(pid_t thread) {
  const auto [place, fresh] = following_.try_emplace(thread);
  if (!fresh) return;
  for (std::size_t i = 0; i < processors_.size(); ++i) {
    for (const Role role : {Role::kMajor, Role::kSample}) {
      if (role == Role::kSample && !config_.sample_code) continue;
      if (leaders_[i] < 0 || following_count_ >= kMostFollowing) continue;
      const int descriptor = open_role(role, thread, processors_[i]);
      if (descriptor < 0) return;
      if (ioctl(descriptor, PERF_EVENT_IOC_SET_OUTPUT, leaders_[i]) != 0) {
        close(descriptor);
        return;
      }
      place->second.push_back(descriptor);
      ++following_count_;
    }
  }
}

void PerfEventFaults::unfollow(pid_t thread) {
  const auto place = following_.find(thread);
  if (place == following_.end()) return;
  for (const int descriptor : place->second) {
    std::uint64_t id = 0;
    if (ioctl(descriptor, PERF_EVENT_IOC_ID, &id) == 0) roles_.erase(id);
    close(descriptor);
  }
  following_count_ -= place->second.size();
  following_.erase(place);
}

int PerfEventFaults::open() {
  raise_descriptor_limit();
  processors_ = online_processors();
  if (processors_.empty()) return ENODEV;
  // What is allowed is found by trying: faults inside system calls need a privilege, inheritance by
  // threads alone needs Linux 5.13.
  if (config_.threads.empty()) return ESRCH;
  for (;;) {
    const int probe =
        open_event(attributes_of(Role::kFault), config_.threads.front(), processors_.front());
    if (probe >= 0) {
      close(probe);
      break;
    }
    if ((errno == EACCES || errno == EPERM) && !exclude_kernel_) {
      exclude_kernel_ = true;
    } else if ((errno == EINVAL || errno == E2BIG) && inherit_thread_) {
      inherit_thread_ = false;
    } else {
      return errno;
    }
  }
  if (const int error = open_leaders(); error != 0) return error;
  if (const int error = map_rings(); error != 0) return error;
  if (const int error = open_others(); error != 0) return error;
  open_end_ring();
  std::string unused;
  pagemap_.open(config_.pid, unused);
  return 0;
}

void PerfEventFaults::open_end_ring() {
  const int descriptor = open_role(Role::kEnd, config_.threads.front(), -1);
  if (descriptor < 0) return;
  descriptors_.push_back(descriptor);
  PerfRing ring;
  if (ring.map(descriptor, kEndRingPages)) rings_.push_back(std::move(ring));
}

void PerfEventFaults::take(const perf_event_header& header, const char* payload, std::size_t bytes,
                           std::vector<KernelEvent>& out) {
  KernelEvent event{};
  const auto own = static_cast<std::uint32_t>(config_.pid);
  switch (header.type) {
    case PERF_RECORD_SAMPLE: {
      const auto sample = read_as<PerfSample>(payload, bytes);
      if (!sample || sample->pid != own) return;
      const auto role = roles_.find(sample->id);
      if (role == roles_.end()) return;
      event.key = bridge_.key(sample->time);
      event.tid = sample->tid;
      event.ip = sample->ip;
      event.address = sample->address;
      event.in_kernel = (header.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
      event.kind = kind_of(role->second);
      if (event.kind == KernelEventKind::kFault) ++counts_.faults;
      break;
    }
    case PERF_RECORD_SWITCH: {
      const auto change = read_as<PerfSwitch>(payload, bytes);
      if (!change || change->pid != own) return;
      event.key = bridge_.key(change->time);
      event.tid = change->tid;
      event.kind = (header.misc & PERF_RECORD_MISC_SWITCH_OUT) != 0 ? KernelEventKind::kSwitchOut
                                                                    : KernelEventKind::kSwitchIn;
      event.preempted = (header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
      break;
    }
    case PERF_RECORD_EXIT:
    case PERF_RECORD_FORK: {
      const auto task = read_as<PerfTask>(payload, bytes);
      if (!task) return;
      const bool ended = header.type == PERF_RECORD_EXIT && task->pid == own;
      const bool forked =
          header.type == PERF_RECORD_FORK && task->parent_pid == own && task->pid != own;
      if (!ended && !forked) return;
      event.key = bridge_.key(task->time);
      event.tid = task->tid;
      event.kind = ended ? KernelEventKind::kThreadEnd : KernelEventKind::kFork;
      break;
    }
    case PERF_RECORD_LOST:
      if (const auto lost = read_as<PerfLost>(payload, bytes)) counts_.lost += lost->lost;
      return;
    default:
      return;
  }
  out.push_back(event);
}

void PerfEventFaults::read(std::vector<KernelEvent>& out) {
  const std::size_t before = out.size();
  for (std::size_t i = 0; i < rings_.size(); ++i) {
    const std::size_t first = out.size();
    rings_[i].for_each([&](const perf_event_header& header, const char* payload,
                           std::size_t bytes) { take(header, payload, bytes, out); });
    // Each ring is one processor's.
    for (std::size_t k = first; k < out.size(); ++k)
      out[k].processor = static_cast<std::uint8_t>(i);
  }
  std::stable_sort(out.begin() + static_cast<std::ptrdiff_t>(before), out.end(),
                   [](const KernelEvent& a, const KernelEvent& b) { return a.key < b.key; });
}

}  // namespace

std::unique_ptr<FaultSource> open_perf_event(const SourceConfig& config, const TickBridge& bridge,
                                             std::string& why) {
  auto source = std::make_unique<PerfEventFaults>(config, bridge);
  const int error = source->open();
  if (error == 0) return source;
  why = explain(error);
  return nullptr;
}

}  // namespace hitch::faults
