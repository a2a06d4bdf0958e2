// Complete callstacks at the price of a few loads.
//
// A walk is a pure function of the registers it starts with and of every word it reads. So the memo
// of a thread's previous walk keeps those words: where an entry of the stack is met again and all
// words further out still have their values, the rest of the stack is the previous one. Only the
// entries in front of it are walked, by rules (cfi.h) that are learnt once for each return address.
//
// What is compared: the return address of every entry; the saved rbp wherever a rule took rbp as
// its base; and at the meeting point rbp itself, if the rest depends on it. Stacks that end early,
// and stacks through a signal frame, are walked anew each time.
#pragma once
#include <cstdint>

#include "base/compiler.h"
#include "format/buffer_records.h"
#include "unwind/stack_bounds.h"

namespace hitch::unwind {

constexpr unsigned kMostEntries = format::kMaxStackEntries;  // with a marker, if any
constexpr unsigned kMostWords = 128;  // code with frame pointers reads one for each entry
constexpr std::uint16_t kFromRegister = 0xffff;

// One thread's last walk, outermost entry first. Plain memory that starts zeroed.
struct StackMemo {
  // A word that a rule read besides return addresses. `step` is the entry whose rule read it, `set`
  // the entry whose rule said where rbp is saved: kFromRegister when it still was in the register.
  struct Word {
    std::uintptr_t address;
    std::uintptr_t value;
    std::uint16_t step;
    std::uint16_t set;
    bool is_rbp;
  };

  std::uint32_t count;     // entries
  std::uint32_t words;     // of `word`
  std::uint32_t reusable;  // 0: the next walk may not trust this one
  // The record's side: how many outermost entries the recorder has too, and how many it has in all.
  std::uint32_t recorded;
  std::uint32_t recorder_count;
  StackBounds bounds;
  std::uintptr_t slot[kMostEntries];     // where the return address lies
  std::uintptr_t address[kMostEntries];  // the return address
  Word word[kMostWords];
  // Of the walk that is going on, innermost first: here, because a thread's stack may be small.
  std::uintptr_t fresh_slot[kMostEntries];
  std::uintptr_t fresh_address[kMostEntries];
  Word fresh_word[kMostWords];

  // After a thread's start, a hook left half done, or a loss.
  void forget() { count = words = reusable = recorded = 0; }
};

// Walks the stack of the hook whose return address lies at `slot`, with `rbp` as its caller left
// it, and brings the memo up to date: its entries are the callstack. At most `depth` entries
// (kMostEntries - 1 at most) are kept. Takes no lock, allocates nothing, reads no
// unmapped memory. Stacks that are not whole end in format::kStackCut or kStackTruncated.
void walk(StackMemo& memo, std::uintptr_t slot, std::uintptr_t rbp, unsigned depth);

// Code at [start, end) is gone, or about to be: its rules are not valid any more.
void forget_rules(std::uintptr_t start, std::uintptr_t end);

// Before the first walk; may call into the loader. `find_object` is _dl_find_object, or null on a
// C library that has none. False: there is no memory for the rules, and walk() must not be called.
bool prepare_walker(void* find_object);

// Without _dl_find_object the walker knows the modules that were noted. Not for two threads at
// once.
void note_module(std::uintptr_t start, std::uintptr_t end, std::uintptr_t eh_frame_hdr);
void forget_module(std::uintptr_t start);

}  // namespace hitch::unwind
