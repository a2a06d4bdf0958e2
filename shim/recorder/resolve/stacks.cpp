#include "recorder/resolve/stacks.h"

#include <algorithm>

#include "format/buffer_records.h"

namespace hitch::resolve {

namespace {

constexpr unsigned kFirstBits = 12;

}  // namespace

Stacks::Stacks(RecordOut& out, Modules& modules) : out_(out), modules_(modules) {
  nodes_.push_back({0, 0, 0, false});
  rebuild(kFirstBits);
}

std::size_t Stacks::place(Node parent, std::uint64_t address) const {
  const std::size_t mask = index_.size() - 1;
  auto i = static_cast<std::size_t>(hash(parent, address) >> (64 - bits_));
  while (index_[i] != 0 &&
         (nodes_[index_[i]].address != address || nodes_[index_[i]].parent != parent)) {
    i = (i + 1) & mask;
  }
  return i;
}

void Stacks::rebuild(unsigned bits) {
  bits_ = bits;
  index_.assign(std::size_t{1} << bits, 0);
  for (Node node = 1; node < nodes_.size(); ++node) {
    if (!nodes_[node].forgotten) index_[place(nodes_[node].parent, nodes_[node].address)] = node;
  }
}

Stacks::Node Stacks::child(Node parent, std::uint64_t address) {
  const std::size_t at = place(parent, address);
  if (index_[at] != 0) return index_[at];
  const auto node = static_cast<Node>(nodes_.size());
  if (node >= kMost) return parent;
  nodes_.push_back({address, parent, 0, false});
  index_[at] = node;
  if (nodes_.size() * 2 > index_.size()) rebuild(bits_ + 1);
  return node;
}

bool Stacks::write(Node node) {
  format::trace::Stack record;
  record.id = nodes_[node].id_plus_one - 1u;
  bool found = true;
  for (Node at = node; at != 0; at = nodes_[at].parent) {
    const std::uint64_t address = nodes_[at].address;
    if (address == format::kStackCut || address == format::kStackTruncated) {
      record.flags |=
          address == format::kStackCut ? format::kStackIsCut : format::kStackIsTruncated;
      continue;
    }
    const std::uint64_t module = modules_.find(address);
    found = found && module != 0;
    record.addresses.push_back(address);
    record.modules.push_back(module);
  }
  out_.put(record);
  return found;
}

std::uint64_t Stacks::id_plus_one(Node node, std::uint64_t key, std::uint64_t now_ms) {
  if (node == 0) return 0;
  if (nodes_[node].id_plus_one == 0) {
    nodes_[node].id_plus_one = ++next_id_;
    for (Node at = node; at != 0; at = nodes_[at].parent) {
      if (nodes_[at].address > format::kStackCut && modules_.find(nodes_[at].address) == 0) {
        modules_.look_again(key, now_ms);
        break;
      }
    }
    if (!write(node)) homeless_.push_back(node);
  }
  return nodes_[node].id_plus_one;
}

void Stacks::write_found() {
  std::erase_if(homeless_, [this](Node node) {
    for (Node at = node; at != 0; at = nodes_[at].parent) {
      if (nodes_[at].address > format::kStackCut && modules_.find(nodes_[at].address) == 0)
        return nodes_[node].forgotten;
    }
    if (!nodes_[node].forgotten) write(node);
    return true;
  });
}

void Stacks::forget(const AddressRange& range) {
  // A parent is always older than its children.
  for (Node node = 1; node < nodes_.size(); ++node) {
    Entry& entry = nodes_[node];
    entry.forgotten =
        entry.forgotten || range.holds(entry.address) || nodes_[entry.parent].forgotten;
  }
  rebuild(bits_);
}

}  // namespace hitch::resolve
