// What is a key, what is none, and that every way to write the same bytes is the same key.
#ifndef GLOOM_TESTS_KEYS_TESTS_HPP
#define GLOOM_TESTS_KEYS_TESTS_HPP

#include "both_modes.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <iterator>
#include <list>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>
#if __cplusplus >= 202002L
#include <span>
#endif

namespace keys_tests {

using gloom::bytes_view;
using gloom::filter;

struct tight {
    std::uint32_t user;
    std::uint32_t block;
};
struct padded {
    std::uint8_t user;
    std::uint32_t block;
};
enum class colour : std::uint16_t { red = 7 };

template <class Key, class = void> struct can_add : std::false_type {};
template <class Key>
struct can_add<Key, std::void_t<decltype(std::declval<filter &>().add(std::declval<const Key &>()))>> : std::true_type {};

// Nothing becomes a key by accident.
static_assert(!can_add<int>::value && !can_add<std::uint64_t>::value && !can_add<char>::value);
static_assert(!can_add<bool>::value && !can_add<double>::value && !can_add<colour>::value);
static_assert(!can_add<std::nullptr_t>::value && !can_add<void *>::value && !can_add<const int *>::value);
static_assert(!can_add<tight>::value && !can_add<padded>::value);
static_assert(!can_add<std::vector<int>>::value && !can_add<std::array<std::uint16_t, 2>>::value);
static_assert(!can_add<std::wstring>::value && !can_add<std::u16string>::value && !can_add<std::list<char>>::value);
static_assert(!can_add<std::vector<std::string>>::value && !can_add<filter>::value);

// ... and these are.
static_assert(can_add<std::string>::value && can_add<std::string_view>::value && can_add<const char *>::value);
static_assert(can_add<char[4]>::value && can_add<unsigned char[4]>::value && can_add<std::byte[4]>::value);
static_assert(can_add<std::vector<std::byte>>::value && can_add<std::vector<char>>::value);
static_assert(can_add<std::array<std::uint8_t, 3>>::value && can_add<gloom::hash>::value);
static_assert(can_add<bytes_view>::value);

// Bytes of a value: only where all of them mean something.
using gloom::detail::is_value;
static_assert(is_value<int> && is_value<std::uint64_t> && is_value<colour> && is_value<tight> && is_value<bool>);
static_assert(is_value<std::array<std::uint32_t, 4>> && is_value<std::uint64_t[2]>);
static_assert(!is_value<padded>, "padding");
static_assert(!is_value<float> && !is_value<double> && !is_value<long double>, "0.0 and -0.0 differ in bytes");
static_assert(!is_value<int *> && !is_value<const char *> && !is_value<std::array<int *, 2>> && !is_value<int *[2]>);
static_assert(!is_value<std::string> && !is_value<std::string_view> && !is_value<bytes_view>);
static_assert(!is_value<char[4]>, "a text, whose NUL is no part of the key");
static_assert(!is_value<std::vector<int>> && !is_value<gloom::hash>);
static_assert(!is_value<std::nullptr_t> && !is_value<int tight::*> && !is_value<int (*)()>);
static_assert(!is_value<std::vector<int>::iterator> && !is_value<std::list<int>::const_iterator>, "addresses");
static_assert(!is_value<std::reference_wrapper<int>> && !is_value<std::reference_wrapper<const tight>>, "addresses");
static_assert(!is_value<std::array<std::string_view, 2>> && !is_value<std::array<std::list<int>::iterator, 2>>);
static_assert(!is_value<std::string_view[2]> && !is_value<std::reference_wrapper<int>[2][2]>);
inline int captured = 0;
inline auto capturing() {
    return [at = &captured] { return *at; };
}
static_assert(!is_value<decltype(capturing())>, "what it captures may be an address");
// ... and numbers that have a name, also with functions of their own, are values.
struct strong {
    using type = std::uint64_t;
    std::uint64_t value;
    const std::uint64_t &get() const { return value; }
    operator std::uint64_t() const { return value; }
};
static_assert(is_value<strong> && is_value<std::chrono::seconds> && is_value<std::array<std::array<tight, 2>, 2>>);
// It cannot be seen that this one holds an address, as docs/cpp.md says.
struct holds_a_pointer {
    const char *name;
};
static_assert(is_value<holds_a_pointer>);
#if __cplusplus >= 202002L
static_assert(!is_value<std::span<int>>);
static_assert(std::is_convertible_v<bytes_view, std::span<const std::byte>>);
#endif

static_assert(!std::is_copy_constructible_v<filter> && !std::is_copy_assignable_v<filter>);
static_assert(std::is_nothrow_move_constructible_v<filter> && std::is_nothrow_move_assignable_v<filter>);
static_assert(std::is_nothrow_swappable_v<filter> && std::is_nothrow_default_constructible_v<filter>);
static_assert(noexcept(std::declval<const filter &>().test(std::declval<const std::string &>().data(), 1)));
static_assert(sizeof(filter) == sizeof(gloom_filter *));

inline bool same(bytes_view a, bytes_view b) {
    const gloom::hash x = gloom::hash_of(a);
    const gloom::hash y = gloom::hash_of(b);
    return a.size() == b.size() && x.lo == y.lo && x.hi == y.hi;
}

TEST(Keys, EveryWayToWriteTheSameBytes) {
    const std::string string = "abc";
    const char *const pointer = "abc";
    char array[8] = "abc"; // a text: the bytes after the NUL are none of it
    const unsigned char bytes[] = {'a', 'b', 'c'};
    const std::byte real_bytes[] = {std::byte{'a'}, std::byte{'b'}, std::byte{'c'}};
    const std::vector<std::byte> vector(std::begin(real_bytes), std::end(real_bytes));
    const std::array<signed char, 3> signed_array = {'a', 'b', 'c'};
    const std::vector<char> chars = {'a', 'b', 'c'};
    const bytes_view abc("abc", 3);
    EXPECT_TRUE(same(abc, string));
    EXPECT_TRUE(same(abc, std::string_view(string)));
    EXPECT_TRUE(same(abc, pointer));
    EXPECT_TRUE(same(abc, "abc"));
    EXPECT_TRUE(same(abc, array));
    EXPECT_TRUE(same(abc, bytes));
    EXPECT_TRUE(same(abc, real_bytes));
    EXPECT_TRUE(same(abc, vector));
    EXPECT_TRUE(same(abc, signed_array));
    EXPECT_TRUE(same(abc, chars));
    EXPECT_TRUE(same(abc, u8"abc"));
#if __cplusplus >= 202002L
    EXPECT_TRUE(same(abc, std::span<const std::byte>(vector)));
    EXPECT_TRUE(same(abc, std::span<const char, 3>(chars.data(), 3)));
    EXPECT_TRUE(same(abc, std::u8string(u8"abc")));
    EXPECT_TRUE(same(abc, std::u8string_view(u8"abc")));
    const std::span<const std::byte> back = abc;
    EXPECT_EQ(back.size(), 3U);
#endif
    EXPECT_FALSE(same(abc, "abd"));
    EXPECT_TRUE(same(abc, "abc\0"));
}

TEST(Keys, NulBytes) {
    using namespace std::string_view_literals;
    EXPECT_FALSE(same("a\0b"sv, "a"));
    EXPECT_EQ(bytes_view("a\0b"sv).size(), 3U);
    EXPECT_EQ(bytes_view("a\0b").size(), 1U) << "a literal ends with its first NUL";
    const unsigned char zeros[4] = {};
    EXPECT_EQ(bytes_view(zeros).size(), 4U);
}

// The text of an array ends at its end if there is no NUL.
static_assert(gloom::detail::text_size<char>("abc") == 3 && gloom::detail::text_size<char>("a\0b") == 1);
inline constexpr char full[2] = {'a', 'b'};
static_assert(gloom::detail::text_size<char>(full) == 2);

TEST(Keys, ArraysWithoutNul) {
    struct record {
        char id[4];
        char after[4];
    };
    record one = {{'a', 'b', 'c', 'd'}, "xyz"};
    EXPECT_EQ(bytes_view(one.id).size(), 4U);
    EXPECT_TRUE(same(one.id, "abcd"));
    EXPECT_TRUE(same(one.after, "xyz"));
    const record &constant = one;
    EXPECT_TRUE(same(constant.id, "abcd"));
    const char *const pointer = one.id; // a C string, whose end nobody knows: it reaches into the next member
    EXPECT_EQ(bytes_view(pointer).size(), 7U);
    const char ids[2][4] = {{'a', 'b', 'c', 'd'}, {'e', 'f', 'g', '\0'}};
    filter f = must(filter::atomic(1000, 0.001));
    MUST_DO(f.add_all(ids));
    EXPECT_TRUE(f.test("abcd") && f.test("efg"));
    EXPECT_EQ(f.test_all(ids), (std::vector<std::uint8_t>{1, 1}));
#if defined(__cpp_char8_t)
    const char8_t utf8[2] = {u8'a', u8'b'};
    EXPECT_TRUE(same(utf8, "ab"));
    const char8_t *const utf8_pointer = u8"ab";
    EXPECT_TRUE(same(utf8_pointer, "ab"));
#endif
}

// As a null key in C: "maybe", and refused.
TEST(Keys, ANullCString) {
    const char *const null = nullptr;
    char *const writable = nullptr;
    filter f = must(filter::atomic(1000, 0.001));
    const filter untouched = must(f.clone());
    EXPECT_TRUE(f.test(null) && f.contains(null) && f.test(writable));
    EXPECT_FAILURE(f.add(null), gloom::errc::null, "");
    EXPECT_FAILURE(f.add(writable), gloom::errc::null, "");
    EXPECT_FAILURE(f.test_and_add(null), gloom::errc::null, "");
    EXPECT_EQ(gloom::hash_of(null).lo, 0U);
    EXPECT_EQ(f.hash_of(null).hi, 0U);
    EXPECT_FAILURE(filter::deserialize(null), gloom::errc::null, "");
    EXPECT_FAILURE(f.merge_serialized(null), gloom::errc::null, "");
    const std::array<std::int32_t, 2> offsets = {0, 1};
    EXPECT_FAILURE(f.add_offsets(null, offsets.data(), 1), gloom::errc::null, "");
    EXPECT_EQ(f.test_offsets(null, offsets.data(), 1, nullptr), 1U);

    // In batches: by address, and hashed on the way (what a move_iterator gives has no address to keep).
    const std::vector<const char *> some = {"a", null, "b"};
    const auto first = std::make_move_iterator(some.begin());
    const auto last = std::make_move_iterator(some.end());
    const std::vector<std::uint8_t> maybes = {1, 1, 1};
    EXPECT_FAILURE(f.add_all(some), gloom::errc::null, "");
    EXPECT_FAILURE(f.add_all(first, last), gloom::errc::null, "");
    EXPECT_EQ(f.test_all(some), maybes);
    std::vector<std::uint8_t> answers;
    EXPECT_EQ(f.test_all(first, last, std::back_inserter(answers)), 3U);
    EXPECT_EQ(answers, maybes);
#if defined(__cpp_char8_t)
    const char8_t *const utf8 = nullptr;
    EXPECT_TRUE(f.test(utf8));
    EXPECT_FAILURE(f.add(utf8), gloom::errc::null, "");
#endif
    EXPECT_EQ(f, untouched);
    EXPECT_EQ(f.count(), 0U);
}

TEST(Keys, TheEmptyKeyIsAKey) {
    filter f = must(filter::atomic(1000, 0.01));
    EXPECT_FALSE(f.test(""));
    MUST_DO(f.add(bytes_view()));
    EXPECT_TRUE(f.test(""));
    EXPECT_TRUE(f.test(std::string()));
    EXPECT_TRUE(f.test(std::vector<std::byte>()));
    EXPECT_TRUE(f.test(nullptr, 0));
    EXPECT_TRUE(bytes_view().empty());
}

TEST(Keys, Values) {
    const std::uint64_t number = 0x0807060504030201;
    EXPECT_TRUE(same(gloom::key_of(number), "\x01\x02\x03\x04\x05\x06\x07\x08"));
    EXPECT_EQ(gloom::key_of(std::uint8_t{1}).size(), 1U);
    const tight both{1, 2};
    EXPECT_EQ(gloom::key_of(both).size(), 8U);
    EXPECT_TRUE(same(gloom::key_of(colour::red), bytes_view("\x07\x00", 2)));
    EXPECT_FALSE(same(gloom::key_of(std::uint32_t{5}), gloom::key_of(std::uint64_t{5}))) << "the type is part of it";
    filter f = must(filter::plain(1000, 0.001));
    MUST_DO(f.add(gloom::key_of(17)));
    EXPECT_TRUE(f.test(gloom::key_of(17)));
    EXPECT_FALSE(f.test(gloom::key_of(18)));
}

TEST(Keys, HashedOnce) {
    gloom::options wanted;
    wanted.expected_items = 1000;
    wanted.fp_rate = 0.001;
    wanted.seed = 42;
    filter seeded = must(filter::create(wanted));
    filter other = must(filter::sharded(10, 0.001));
    const gloom::hash of_seeded = seeded.hash_of("key");
    const gloom::hash plain = gloom::hash_of("key");
    EXPECT_NE(of_seeded.lo, plain.lo);
    EXPECT_EQ(of_seeded.hi, gloom::hash_of("key", 42).hi);
    EXPECT_FALSE(seeded.contains(of_seeded));
    MUST_DO(seeded.add(of_seeded));
    MUST_DO(other.add(plain));
    EXPECT_TRUE(seeded.contains("key"));
    EXPECT_TRUE(seeded.test(of_seeded));
    EXPECT_TRUE(other.test("key"));
    EXPECT_FALSE(seeded.test(plain)) << "the hash of another seed";
}

// By key, by hash and in batches, also of keys that the wrapper hashes itself because they do not stay.
TEST(Keys, HashedBySipHash) {
    gloom::options wanted;
    wanted.num_blocks = 100;
    wanted.k = 7;
    wanted.hash = gloom::hash_kind::siphash;
    EXPECT_FAILURE(filter::create(wanted), gloom::errc::invalid_argument, "seed");
    wanted.seed = 42;
    filter f = must(filter::create(wanted));
    filter many = must(filter::create(wanted));
    filter made_on_the_fly = must(filter::create(wanted));
    EXPECT_EQ(f.hash_kind(), gloom::hash_kind::siphash);
    EXPECT_EQ(f.hash_of("key").lo, gloom::siphash_of("key", 42).lo);
    EXPECT_NE(f.hash_of("key").lo, gloom::hash_of("key", 42).lo);

    const std::vector<std::string> keys = {"", "key", "another key"};
    std::istringstream words("key another");
    for (const std::string &key : keys)
        MUST_DO(f.add(key));
    MUST_DO(many.add_all(keys));
    EXPECT_EQ(many, f);
    MUST_DO(made_on_the_fly.add_all(std::istream_iterator<std::string>(words), std::istream_iterator<std::string>()));
    EXPECT_TRUE(made_on_the_fly.test("key"));
    EXPECT_TRUE(made_on_the_fly.test("another"));
    EXPECT_TRUE(f.test(gloom::siphash_of("another key", 42)));

    wanted.hash = gloom::hash_kind::xxh3;
    filter other = must(filter::create(wanted));
    EXPECT_EQ(other.hash_kind(), gloom::hash_kind::xxh3);
    EXPECT_FAILURE(other.merge(f), gloom::errc::incompatible, "hash");
    EXPECT_FAILURE(f.serialize(gloom::format::v1), gloom::errc::unsupported, "SipHash");
}

} // namespace keys_tests

#endif
