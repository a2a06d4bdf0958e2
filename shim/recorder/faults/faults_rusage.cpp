// getrusage at each present, made by the game's shim: counts of the presenting thread and of the
// process, nothing about which memory. There is nothing to read here.
#include "recorder/faults/fault_source.h"

namespace hitch::faults {

namespace {

class CountedFaults final : public FaultSource {
 public:
  SourceKind kind() const override { return SourceKind::kCount; }
  std::string name() const override { return "getrusage"; }
};

}  // namespace

std::unique_ptr<FaultSource> open_rusage() { return std::make_unique<CountedFaults>(); }

}  // namespace hitch::faults
