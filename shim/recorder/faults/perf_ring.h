// One ring buffer of perf events, mapped from the kernel: hands out whole records and gives their
// room back. The layout is that of linux/perf_event.h, struct perf_event_mmap_page.
#pragma once
#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace hitch::faults {

class PerfRing {
 public:
  PerfRing() = default;
  PerfRing(PerfRing&& other) noexcept;
  PerfRing& operator=(PerfRing&& other) noexcept;
  ~PerfRing();

  // Maps the ring of an event with 2^n `pages` of data. False: errno says why.
  bool map(int descriptor, std::size_t pages);

  // f(header, payload, payload_bytes) for each record that is complete; the payload is valid during
  // the call.
  template <class F>
  void for_each(F&& f) {
    if (page_ == nullptr) return;
    const std::uint64_t head = __atomic_load_n(&page_->data_head, __ATOMIC_ACQUIRE);
    std::uint64_t tail = page_->data_tail;
    while (head - tail >= sizeof(perf_event_header)) {
      perf_event_header header;
      copy(tail, &header, sizeof header);
      if (header.size < sizeof header || header.size > head - tail) break;
      const std::size_t payload = header.size - sizeof header;
      record_.resize(payload);
      copy(tail + sizeof header, record_.data(), payload);
      f(header, record_.data(), payload);
      tail += header.size;
    }
    __atomic_store_n(&page_->data_tail, head, __ATOMIC_RELEASE);
  }

 private:
  void copy(std::uint64_t from, void* to, std::size_t bytes) const;
  void unmap();

  perf_event_mmap_page* page_ = nullptr;
  const char* data_ = nullptr;
  std::size_t data_bytes_ = 0;
  std::size_t mapped_bytes_ = 0;
  std::vector<char> record_;
};

}  // namespace hitch::faults
