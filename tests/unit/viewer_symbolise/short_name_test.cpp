#include "viewer/symbolise/short_name.h"

#include <gtest/gtest.h>

namespace hitch::symbolise {
namespace {

TEST(Demangle, LeavesPlainNamesAlone) {
  EXPECT_EQ(demangle("SDL_LoadBMP_RW"), "SDL_LoadBMP_RW");
  EXPECT_EQ(demangle("_Znonsense"), "_Znonsense");
  EXPECT_EQ(demangle(""), "");
}

TEST(Demangle, RefusesNamesThatWouldTakeForEver) {
  const std::string huge = "_Z" + std::string(100000, 'P');
  EXPECT_EQ(demangle(huge), huge);
}

TEST(Demangle, DropsTheHashOfRustNames) {
  EXPECT_EQ(demangle("_ZN4core3fmt5write17h0123456789abcdefE"), "core::fmt::write");
}

TEST(ShortName, DropsParametersAndQualifiers) {
  EXPECT_EQ(short_name("Scene::spawn(int, Vec<float> const&) const"), "Scene::spawn");
  EXPECT_EQ(short_name("main"), "main");
  EXPECT_EQ(short_name("Scene::~Scene()"), "Scene::~Scene");
}

TEST(ShortName, DropsTheReturnTypeOfTemplates) {
  EXPECT_EQ(short_name("void push<int>(int)"), "push<int>");
  EXPECT_EQ(short_name("std::vector<int, std::allocator<int> > load<int>(char const*)"),
            "load<int>");
  EXPECT_EQ(short_name("decltype (f(a)) apply<F>(F)"), "apply<F>");
}

TEST(ShortName, DropsAllocatorsAndOtherDefaults) {
  EXPECT_EQ(short_name(
                "void std::vector<A, std::allocator<A> >::_M_realloc_insert<A const&>("
                "__gnu_cxx::__normal_iterator<A*, std::vector<A, std::allocator<A> > >, A const&)"),
            "std::vector<A>::_M_realloc_insert<A const&>");
  EXPECT_EQ(short_name("std::map<int, A, std::less<int>, std::allocator<std::pair<int const, A> > "
                       ">::at(int const&)"),
            "std::map<int, A>::at");
  EXPECT_EQ(short_name("std::unique_ptr<A, std::default_delete<A> >::reset(A*)"),
            "std::unique_ptr<A>::reset");
}

TEST(ShortName, KeepsAnAllocatorThatIsTheSubject) {
  EXPECT_EQ(short_name("std::__new_allocator<A>::allocate(unsigned long, void const*)"),
            "std::__new_allocator<A>::allocate");
  EXPECT_EQ(
      short_name(
          "std::allocator_traits<std::allocator<A> >::allocate(std::allocator<A>&, unsigned long)"),
      "std::allocator_traits<std::allocator<A>>::allocate");
}

TEST(ShortName, SpellsStringsAndStreamsAsPeopleDo) {
  const std::string text =
      "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >";
  EXPECT_EQ(short_name(text + "::_M_append(char const*, unsigned long)"), "std::string::_M_append");
  EXPECT_EQ(short_name("std::vector<" + text + ", std::allocator<" + text + " > >::push_back(" +
                       text + "&&)"),
            "std::vector<std::string>::push_back");
  EXPECT_EQ(short_name("std::basic_ostream<char, std::char_traits<char> >& std::operator<< "
                       "<std::char_traits<char> >(std::basic_ostream<char, std::char_traits<char> "
                       ">&, char const*)"),
            "std::operator<<");
  EXPECT_EQ(short_name("std::basic_string<wchar_t, std::char_traits<wchar_t>, "
                       "std::allocator<wchar_t> >::reserve(unsigned long)"),
            "std::wstring::reserve");
}

TEST(ShortName, CollapsesLongTemplateArguments) {
  EXPECT_EQ(short_name("engine::Registry<engine::components::Transform, "
                       "engine::components::Velocity>::emplace(int)"),
            "engine::Registry<...>::emplace");
  EXPECT_EQ(short_name("engine::Registry<engine::Transform>::emplace(int)"),
            "engine::Registry<engine::Transform>::emplace");
}

TEST(ShortName, UnderstandsOperators) {
  EXPECT_EQ(short_name("A::operator()(int) const"), "A::operator()");
  EXPECT_EQ(short_name("bool operator< <int>(A<int> const&, A<int> const&)"), "operator<<int>");
  EXPECT_EQ(short_name("operator new[](unsigned long)"), "operator new[]");
  EXPECT_EQ(short_name("A::operator bool() const"), "A::operator bool");
  EXPECT_EQ(short_name("A::operator->()"), "A::operator->");
  EXPECT_EQ(short_name("operator_table::find(int)"), "operator_table::find");
}

TEST(ShortName, UnderstandsLambdasAndLocalScopes) {
  EXPECT_EQ(short_name("Game::update(float)::{lambda(Particle&)#2}::operator()(Particle&) const"),
            "Game::update::{lambda#2}::operator()");
  EXPECT_EQ(short_name("(anonymous namespace)::decode(char const*) [clone .constprop.0]"),
            "(anon)::decode");
  EXPECT_EQ(short_name("non-virtual thunk to Scene::update(float)"),
            "non-virtual thunk to Scene::update");
  EXPECT_EQ(short_name("format[abi:cxx11](int)"), "format");
}

TEST(ShortName, LeavesWhatItCannotReadAlone) {
  EXPECT_EQ(short_name("broken<int"), "broken<int");
  EXPECT_EQ(short_name("odd(int"), "odd(int");
  EXPECT_EQ(short_name(std::string(1000, '<')), std::string(1000, '<'));
  EXPECT_EQ(short_name(""), "");
}

}  // namespace
}  // namespace hitch::symbolise
