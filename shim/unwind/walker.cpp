#include "unwind/walker.h"

#include <sys/mman.h>

#include "base/syscall.h"
#include "unwind/code_map.h"
#include "unwind/rule_table.h"

namespace hitch::unwind {
namespace {

constinit RuleTable g_rules{nullptr};

HITCH_FAST std::uintptr_t load(std::uintptr_t address) {
  return *reinterpret_cast<const volatile std::uintptr_t*>(address);
}

// Learns the rule for a return address: the one at the call before it. What lies in no module is
// not remembered, because one may be mapped there next.
HITCH_SLOW std::uint64_t learn(std::uintptr_t address) {
  ModuleImage module;
  if (!find_module(address - 1, module)) return RuleTable::pack({RuleKind::kUnknown, 0, 0});
  Rule rule = rule_at(module, address - 1);
  // No call lies before it: a stack made by hand begins here, as makecontext's do.
  if (rule.kind == RuleKind::kUnknown && starts_function(module, address))
    rule = {RuleKind::kEnd, 0, 0};
  g_rules.insert(address, rule);
  return RuleTable::pack(rule);
}

HITCH_FAST std::uint64_t rule_for(std::uintptr_t address) {
  const std::uint64_t known = g_rules.find(address);
  return HITCH_LIKELY(RuleTable::kind_of(known) != RuleKind::kNone) ? known : learn(address);
}

class Walk {
 public:
  Walk(StackMemo& memo, std::uintptr_t slot, std::uintptr_t rbp, unsigned depth)
      : memo_(memo), slot_(slot), first_slot_(slot), rbp_(rbp), depth_(depth) {
    limit_ = memo.bounds.limit(slot, foreign_);
    if (memo.reusable != 0) candidate_ = static_cast<int>(memo.count) - 1;
  }

  void run() {
    address_ = load(slot_);
    for (;;) {
      if (!exact_) run_plain();
      if (candidate_ >= 0 && meets_memo()) return splice();
      if (fresh_ == depth_) return finish(format::kStackCut);
      memo_.fresh_slot[fresh_] = slot_;
      memo_.fresh_address[fresh_] = address_;
      ++fresh_;
      if (!step()) return;
    }
  }

 private:
  // The usual rule, in registers alone: from entry to entry by constants, until the memo's next
  // entry or anything else that takes thought. Leaves that entry to run().
  HITCH_FAST void run_plain() {
    const std::uintptr_t stop = candidate_ >= 0 ? memo_.slot[candidate_] : ~std::uintptr_t{0};
    const std::uintptr_t limit = limit_;
    const unsigned depth = depth_;
    std::uintptr_t slot = slot_;
    std::uintptr_t address = address_;
    std::uintptr_t rbp_slot = rbp_slot_;
    unsigned rbp_set = rbp_set_;
    unsigned fresh = fresh_;
    while (slot < stop && fresh < depth) {
      const std::uint64_t rule = g_rules.find(address);
      const std::uintptr_t cfa = slot + 8 + static_cast<std::uintptr_t>(RuleTable::cfa_of(rule));
      if (RuleTable::kind_of(rule) != RuleKind::kRsp || cfa > limit) break;
      const std::uintptr_t next = load(cfa - 8);
      if (HITCH_UNLIKELY(next == 0)) break;
      memo_.fresh_slot[fresh] = slot;
      memo_.fresh_address[fresh] = address;
      const auto saved = static_cast<std::uintptr_t>(RuleTable::rbp_of(rule));
      rbp_slot = saved != 0 ? cfa - saved : rbp_slot;
      rbp_set = saved != 0 ? fresh : rbp_set;
      ++fresh;
      slot = cfa - 8;
      address = next;
    }
    slot_ = slot;
    address_ = address;
    rbp_slot_ = rbp_slot;
    rbp_set_ = static_cast<std::uint16_t>(rbp_set);
    fresh_ = fresh;
  }

  // True when the current entry is one of the memo's from which everything outwards still holds.
  HITCH_FAST bool meets_memo() {
    while (candidate_ >= 0 && memo_.slot[candidate_] < slot_) --candidate_;
    if (candidate_ < 0 || memo_.slot[candidate_] != slot_ || memo_.address[candidate_] != address_)
      return false;
    if (!verified_) {
      verified_ = true;
      holds_until_ = verify(candidate_);
    }
    return candidate_ <= holds_until_ && rbp_agrees(candidate_);
  }

  // The innermost entry, at most `from`, such that it and all further out hold; -1: none.
  int verify(int from) {
    // The memo's stack may be gone, and its place taken by a shorter one.
    if (!reaches(memo_.slot[0])) return -1;
    std::uintptr_t difference = 0;
    for (int i = 0; i < from; ++i) difference |= load(memo_.slot[i]) ^ memo_.address[i];
    int until = from;
    if (HITCH_UNLIKELY(difference != 0)) {
      until = -1;
      while (load(memo_.slot[until + 1]) == memo_.address[until + 1]) ++until;
    }
    for (unsigned i = 0; i < memo_.words; ++i) {
      const StackMemo::Word& word = memo_.word[i];
      if (word.step > until) break;
      // Saved by an entry in front of `from`: rbp_agrees() compares the value.
      if (word.is_rbp && word.set > from) continue;
      if (word.address < slot_ || word.address >= limit_ || load(word.address) != word.value)
        until = word.step - 1;
    }
    return until;
  }

  // If the walk outwards from entry `at` takes an rbp that was set in front of it, is it the same?
  HITCH_FAST bool rbp_agrees(int at) {
    for (unsigned i = 0; i < memo_.words; ++i) {
      const StackMemo::Word& word = memo_.word[i];
      if (word.step > at) break;
      if (word.is_rbp && word.set > at && word.value != current_rbp()) return false;
    }
    return true;
  }

  HITCH_FAST std::uintptr_t current_rbp() const { return rbp_slot_ != 0 ? load(rbp_slot_) : rbp_; }

  HITCH_FAST bool reaches(std::uintptr_t address) {
    if (HITCH_LIKELY(address + 8 <= limit_)) return true;
    if (!foreign_) return false;
    limit_ = StackBounds::extend(limit_, address);
    return address + 8 <= limit_;
  }

  // May a word of the stack be read there? `floor`: below it lies what has returned.
  HITCH_FAST bool may_read(std::uintptr_t address, std::uintptr_t floor) {
    return address >= floor && (address & 7) == 0 && reaches(address);
  }

  // Reads rbp for a rule that needs it, and remembers having read it.
  bool take_rbp(std::uintptr_t& value) {
    if (rbp_slot_ != 0 && !may_read(rbp_slot_, first_slot_)) return false;
    value = current_rbp();
    return note_word({rbp_slot_, value, step_index(), rbp_set_, true});
  }
  bool note_word(const StackMemo::Word& word) {
    if (fresh_words_ == kMostWords) return false;
    memo_.fresh_word[fresh_words_++] = word;
    return true;
  }
  // Fresh entries are numbered from the innermost until the walk is over.
  std::uint16_t step_index() const { return static_cast<std::uint16_t>(fresh_ - 1); }

  // One entry outwards. False: the walk is over, and finish() was called.
  HITCH_FAST bool step() {
    const std::uint64_t rule = rule_for(exact_ ? address_ + 1 : address_);
    exact_ = false;
    const std::uintptr_t sp = slot_ + 8;
    std::uintptr_t cfa = 0;
    switch (RuleTable::kind_of(rule)) {
      case RuleKind::kRsp:
        cfa = sp + static_cast<std::uintptr_t>(RuleTable::cfa_of(rule));
        break;
      case RuleKind::kRbp: {
        std::uintptr_t rbp = 0;
        if (!take_rbp(rbp)) return finish(format::kStackTruncated), false;
        cfa = rbp + static_cast<std::uintptr_t>(RuleTable::cfa_of(rule));
        break;
      }
      case RuleKind::kRbpDeref:
        if (!deref(rule, sp, cfa)) return finish(format::kStackTruncated), false;
        break;
      case RuleKind::kSignal:
        if (!through_signal(sp)) return finish(format::kStackTruncated), false;
        return true;
      case RuleKind::kEnd:
        return finish(0), false;
      default:
        return finish(at_process_entry() ? 0 : format::kStackTruncated), false;
    }
    // Usually further out on the same stack; a switch of stacks leads anywhere.
    if ((cfa <= sp || !may_read(cfa - 8, sp)) && !change_stack(cfa))
      return finish(format::kStackTruncated), false;
    if (RuleTable::kind_of(rule) != RuleKind::kRbpDeref && RuleTable::rbp_of(rule) != 0) {
      rbp_slot_ = cfa - static_cast<std::uintptr_t>(RuleTable::rbp_of(rule));
      rbp_set_ = step_index();
    }
    slot_ = cfa - 8;
    address_ = load(slot_);
    if (address_ == 0) return finish(0), false;
    return true;
  }

  // Where the kernel started the process there is code without rules, and nothing further out.
  bool at_process_entry() const {
    constexpr std::uintptr_t kReach = 64;
    return !foreign_ && limit_ - slot_ <= kReach;
  }

  // Code that switches stacks may say in its rules how to come back. What lies there is walked, but
  // not kept for the next time.
  bool change_stack(std::uintptr_t cfa) {
    if ((cfa & 7) != 0 || !is_readable(cfa - 8)) return false;
    candidate_ = -1;
    changed_stack_ = true;
    first_slot_ = (cfa - 8) & ~std::uintptr_t{4095};  // what is known to be readable
    limit_ = memo_.bounds.limit(cfa - 8, foreign_);
    return true;
  }

  bool deref(std::uint64_t rule, std::uintptr_t sp, std::uintptr_t& cfa) {
    std::uintptr_t rbp = 0;
    if (!take_rbp(rbp)) return false;
    const std::uintptr_t holder = rbp + static_cast<std::uintptr_t>(RuleTable::cfa_of(rule));
    const std::uintptr_t saved =
        rbp + static_cast<std::uintptr_t>(RuleTable::rbp_of(rule)) - kDerefBias * 8;
    if (!may_read(holder, sp) || !may_read(saved, sp)) return false;
    cfa = load(holder);
    if (!note_word({holder, cfa, step_index(), step_index(), false})) return false;
    rbp_slot_ = saved;
    rbp_set_ = step_index();
    return true;
  }

  // What was interrupted may be anything, on any stack: nothing further out is kept for next time.
  bool through_signal(std::uintptr_t sp) {
    if (!may_read(sp + kSignalRip, sp)) return false;
    const std::uintptr_t interrupted = load(sp + kSignalRsp);
    address_ = load(sp + kSignalRip);
    rbp_slot_ = sp + kSignalRbp;
    rbp_set_ = step_index();
    changed_stack_ = exact_ = true;
    candidate_ = -1;
    if ((interrupted & 7) != 0) return false;
    // A handler on its own stack leads back to another one: its limits are not known yet.
    if (interrupted <= sp || interrupted >= limit_) {
      rbp_ = load(rbp_slot_);
      rbp_slot_ = 0;
      rbp_set_ = kFromRegister;
      if (!change_stack(interrupted + 8)) return false;
    }
    // An entry's return address lies below the stack pointer after the return; here the pc lies
    // elsewhere, but what follows only needs the stack pointer.
    slot_ = interrupted - 8;
    return true;
  }

  void splice() {
    const auto kept = static_cast<unsigned>(candidate_) + 1;
    if (kept + fresh_ > depth_) {
      // The outermost entries must go: walk the rest too, and cut.
      return copy_rest();
    }
    if (memo_.recorded > kept) memo_.recorded = kept;
    if (fresh_ == 0 && kept == memo_.count) return;
    keep_words(kept);
    append(kept);
  }

  // Words of the kept part stay; those in front of it that it relied on are the fresh part's now.
  void keep_words(unsigned kept) {
    unsigned words = 0;
    while (words < memo_.words && memo_.word[words].step < kept) {
      StackMemo::Word& word = memo_.word[words++];
      if (!word.is_rbp || word.set < kept) continue;
      word.address = rbp_slot_;
      word.set = rbp_set_ == kFromRegister
                     ? kFromRegister
                     : static_cast<std::uint16_t>(kept + fresh_ - 1 - rbp_set_);
    }
    memo_.words = words;
  }

  void append(unsigned kept) {
    const unsigned count = kept + fresh_;
    for (unsigned i = 0; i < fresh_; ++i) {
      memo_.slot[count - 1 - i] = memo_.fresh_slot[i];
      memo_.address[count - 1 - i] = memo_.fresh_address[i];
    }
    memo_.count = count;
    if (memo_.words + fresh_words_ > kMostWords) {
      memo_.reusable = 0;
      return;
    }
    for (unsigned i = fresh_words_; i-- > 0;) {
      StackMemo::Word& word = memo_.word[memo_.words++];
      word = memo_.fresh_word[i];
      word.step = static_cast<std::uint16_t>(count - 1 - word.step);
      if (word.set != kFromRegister) word.set = static_cast<std::uint16_t>(count - 1 - word.set);
    }
  }

  void copy_rest() {
    for (int i = candidate_; fresh_ < depth_; --i) {
      memo_.fresh_slot[fresh_] = memo_.slot[i];
      memo_.fresh_address[fresh_] = memo_.address[i];
      ++fresh_;
    }
    finish(format::kStackCut);
  }

  // The walk ended without meeting the memo. `marker`: 0, or why the stack is not whole.
  void finish(std::uintptr_t marker) {
    if (marker != 0) {
      memo_.fresh_slot[fresh_] = ~std::uintptr_t{0};
      memo_.fresh_address[fresh_] = marker;
      ++fresh_;
    }
    // What the recorder has may still be the same from the outside in.
    unsigned same = 0;
    const unsigned most = memo_.recorded < fresh_ ? memo_.recorded : fresh_;
    while (same < most && memo_.address[same] == memo_.fresh_address[fresh_ - 1 - same]) ++same;
    memo_.recorded = same;
    memo_.words = 0;
    memo_.reusable = marker == 0 && !changed_stack_ ? 1 : 0;
    append(0);
  }

  StackMemo& memo_;
  std::uintptr_t slot_;
  std::uintptr_t first_slot_;    // below it lies nothing that was saved; of the stack being walked
  std::uintptr_t rbp_;           // valid while rbp_slot_ is 0
  std::uintptr_t rbp_slot_ = 0;  // where the current entry's rbp is saved
  std::uint16_t rbp_set_ = kFromRegister;
  unsigned depth_;
  std::uintptr_t limit_ = 0;
  std::uintptr_t address_ = 0;
  bool foreign_ = false;
  bool exact_ = false;          // address_ is no return address but where a signal struck
  bool changed_stack_ = false;  // by a signal or by hand: nothing further out is kept
  bool verified_ = false;
  int candidate_ = -1;  // the memo's innermost entry that may still be met
  int holds_until_ = -1;
  unsigned fresh_ = 0;
  unsigned fresh_words_ = 0;
};

}  // namespace

void walk(StackMemo& memo, std::uintptr_t slot, std::uintptr_t rbp, unsigned depth) {
  Walk(memo, slot, rbp, depth).run();
}

void forget_rules(std::uintptr_t start, std::uintptr_t end) {
  if (g_rules.is_there()) g_rules.forget(start, end);
}

bool prepare_walker(void* find_object) {
  use_find_object(find_object);
  constexpr std::size_t kBytes = RuleTable::kEntries * sizeof(RuleTable::Word);
  const long memory =
      base::system_call(SYS_mmap, 0, static_cast<long>(kBytes), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory < 0 && memory > -4096) return false;
  g_rules = RuleTable(reinterpret_cast<RuleTable::Word*>(memory));
  return true;
}

}  // namespace hitch::unwind
