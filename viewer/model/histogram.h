// A latency distribution in the log-linear buckets of format/histogram.h.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

namespace hitch::model {

class Histogram {
 public:
  // Pairs of bucket and calls as a Histogram record has them. Buckets that do not exist are
  // ignored.
  void add(const std::vector<std::uint64_t>& pairs);
  void add(const Histogram& other);

  std::uint64_t calls() const { return calls_; }
  // Ticks at or below which the share `quantile` (0..1) of the calls lie: the middle of the bucket,
  // so within 1.6 %. 0 when empty.
  double quantile(double quantile) const;

 private:
  std::map<unsigned, std::uint64_t> buckets_;
  std::uint64_t calls_ = 0;
};

}  // namespace hitch::model
