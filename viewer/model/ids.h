// Numbers of things in a trace as distinct types, so that a site cannot be passed for a thread.
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace hitch::model {

// Position of a thing in the model's own list of such things.
template <class Tag>
struct Id {
  std::uint32_t value = 0;

  constexpr Id() = default;
  constexpr explicit Id(std::size_t position) : value(static_cast<std::uint32_t>(position)) {}
  constexpr std::size_t index() const { return value; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

using FrameId = Id<struct FrameTag>;
using ThreadId = Id<struct ThreadTag>;
using SiteId = Id<struct SiteTag>;
using ModuleId = Id<struct ModuleTag>;
using StackId = Id<struct StackTag>;
using PlaceId = Id<struct PlaceTag>;
using HeapId = Id<struct HeapTag>;

}  // namespace hitch::model

template <class Tag>
struct std::hash<hitch::model::Id<Tag>> {
  std::size_t operator()(hitch::model::Id<Tag> id) const noexcept { return id.index(); }
};
