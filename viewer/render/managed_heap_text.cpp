#include "viewer/render/managed_heap_text.h"

#include <vector>

#include "viewer/render/page.h"

namespace hitch::render {
namespace {

using analyse::HeapSource;
using analyse::ManagedHeap;

// "Mono (libmonosgen-2.0.so) and LuaJIT (libluajit-5.1.so.2)"
std::string list_text(const std::vector<const ManagedHeap*>& heaps) {
  std::string text;
  for (std::size_t i = 0; i < heaps.size(); ++i) {
    if (i > 0) text += i + 1 == heaps.size() ? " and " : ", ";
    text += heaps[i]->runtime + " (" + printable(heaps[i]->module) + ")";
  }
  return text;
}

}  // namespace

std::string managed_heaps_text(const analyse::Report& report) {
  std::string text;
  for (const HeapSource source :
       {HeapSource::kOwn, HeapSource::kOwnSmall, HeapSource::kAllocator}) {
    std::vector<const ManagedHeap*> heaps;
    for (const ManagedHeap& heap : report.managed_heaps) {
      if (heap.source == source) heaps.push_back(&heap);
    }
    if (heaps.empty()) continue;
    const bool one = heaps.size() == 1;
    if (!text.empty()) text += " ";
    text += list_text(heaps);
    switch (source) {
      case HeapSource::kOwn:
        text += one ? " keeps its objects in a heap of its own"
                    : " keep their objects in heaps of their own";
        text +=
            ", not malloc's: they are in no number here, and a collection shows as page faults, "
            "waiting or computing (\"not memory\").";
        break;
      case HeapSource::kOwnSmall:
        text += one ? " keeps" : " keep";
        text += " small objects in a heap of its own: only large ones are in the numbers here.";
        break;
      case HeapSource::kAllocator:
        text += one ? " allocates" : " allocate";
        text +=
            " through realloc, unless the game gives it an allocator: its objects are in the "
            "numbers here, a collection shows as releases.";
        break;
    }
  }
  return text;
}

}  // namespace hitch::render
