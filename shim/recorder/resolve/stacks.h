// Callstacks of outliers, each written once.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "recorder/resolve/modules.h"
#include "recorder/resolve/record_out.h"

namespace hitch::resolve {

class Stacks {
 public:
  Stacks(RecordOut& out, Modules& modules) : out_(out), modules_(modules) {}

  // Stack id + 1; 0 when nothing was captured.
  std::uint64_t id_plus_one(std::vector<std::uint64_t> addresses, std::uint64_t flags,
                            std::uint64_t key, std::uint64_t now_ms);

  // The addresses of `range` mean other code from now on: stacks through them get new ids.
  void forget(const AddressRange& range);

 private:
  RecordOut& out_;
  Modules& modules_;
  std::map<std::vector<std::uint64_t>, std::uint64_t> ids_;  // addresses, then flags
  std::uint64_t next_id_ = 0;
};

}  // namespace hitch::resolve
