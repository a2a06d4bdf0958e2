// Without perf events: large blocks are looked at some hundred times a second, and pages that have
// become resident since were touched for the first time. Blocks that live shorter than that are
// missed, and so is who touched them, and where in the code.
#include "recorder/faults/fault_source.h"
#include "recorder/faults/pagemap.h"

namespace hitch::faults {

namespace {

class PagemapFaults final : public FaultSource {
 public:
  SourceKind kind() const override { return SourceKind::kPagemap; }
  std::string name() const override { return "pagemap"; }
  Pagemap* pagemap() override { return &pagemap_; }

 private:
  Pagemap pagemap_;
};

}  // namespace

std::unique_ptr<FaultSource> open_pagemap(pid_t pid, std::string& why) {
  auto source = std::make_unique<PagemapFaults>();
  if (!source->pagemap()->open(pid, why)) return nullptr;
  return source;
}

}  // namespace hitch::faults
