// Callstacks. Threads send the difference to their last one; here each is a path in one tree, so
// that equal stacks share a node and a new one costs a probe for each fresh entry.
#pragma once
#include <cstdint>
#include <vector>

#include "recorder/resolve/modules.h"
#include "recorder/resolve/record_out.h"

namespace hitch::resolve {

class Stacks {
 public:
  // 0 is the root: no stack entry at all, or a stack that is not known.
  using Node = std::uint32_t;
  // More than any game has: a garbled buffer must not eat the recorder's memory.
  static constexpr Node kMost = 1u << 23;

  Stacks(RecordOut& out, Modules& modules);

  // The stack that has `address` as one more, innermost entry than `parent`.
  Node child(Node parent, std::uint64_t address);
  // Stack id + 1 of the stack that ends in `node`, written when it is asked for the first time; 0
  // for the root.
  std::uint64_t id_plus_one(Node node, std::uint64_t key, std::uint64_t now_ms);
  // After a module was told: writes the stacks again that have entries in it, see
  // Sites::write_found.
  void write_found();
  // The addresses of `range` mean other code from now on: stacks through them get new nodes.
  void forget(const AddressRange& range);
  bool is_forgotten(Node node) const { return nodes_[node].forgotten; }
  std::size_t nodes() const { return nodes_.size() - 1; }

 private:
  struct Entry {
    std::uint64_t address;
    Node parent;
    std::uint32_t id_plus_one;
    bool forgotten;
  };
  static std::uint64_t hash(Node parent, std::uint64_t address) {
    return (address ^ std::uint64_t{parent} << 40 ^ parent) * 0x9E3779B97F4A7C15u;
  }
  std::size_t place(Node parent, std::uint64_t address) const;
  void rebuild(unsigned bits);
  // False: some entry lies in no module that is known.
  bool write(Node node);

  RecordOut& out_;
  Modules& modules_;
  std::vector<Entry> nodes_;
  std::vector<Node> index_;  // open addressing; 0: free
  unsigned bits_ = 0;
  std::vector<Node> homeless_;  // written with entries in no known module
  std::uint32_t next_id_ = 0;
};

}  // namespace hitch::resolve
