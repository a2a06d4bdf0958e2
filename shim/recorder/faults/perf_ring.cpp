#include "recorder/faults/perf_ring.h"

#include <sys/mman.h>

#include <algorithm>
#include <utility>

namespace hitch::faults {

namespace {
constexpr std::size_t kPageBytes = 4096;
}

PerfRing::PerfRing(PerfRing&& other) noexcept { *this = std::move(other); }

PerfRing& PerfRing::operator=(PerfRing&& other) noexcept {
  std::swap(page_, other.page_);
  std::swap(data_, other.data_);
  std::swap(data_bytes_, other.data_bytes_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  std::swap(record_, other.record_);
  return *this;
}

PerfRing::~PerfRing() { unmap(); }

void PerfRing::unmap() {
  if (page_ != nullptr) munmap(page_, mapped_bytes_);
  page_ = nullptr;
}

bool PerfRing::map(int descriptor, std::size_t pages) {
  unmap();
  const std::size_t bytes = (pages + 1) * kPageBytes;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) return false;
  page_ = static_cast<perf_event_mmap_page*>(memory);
  mapped_bytes_ = bytes;
  data_ = static_cast<const char*>(memory) + page_->data_offset;
  data_bytes_ = page_->data_size;
  return true;
}

void PerfRing::copy(std::uint64_t from, void* to, std::size_t bytes) const {
  const std::size_t at = from & (data_bytes_ - 1);
  const std::size_t first = std::min(bytes, data_bytes_ - at);
  std::memcpy(to, data_ + at, first);
  std::memcpy(static_cast<char*>(to) + first, data_, bytes - first);
}

}  // namespace hitch::faults
