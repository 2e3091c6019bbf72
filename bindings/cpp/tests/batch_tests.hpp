// Keys in bulk: every shape of range gives the bits that single adds give.
#ifndef GLOOM_TESTS_BATCH_TESTS_HPP
#define GLOOM_TESTS_BATCH_TESTS_HPP

#include "both_modes.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <forward_list>
#include <iterator>
#include <list>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>
#if __cplusplus >= 202002L
#include <ranges>
#include <span>
#include <version>
#endif
#if defined(__cpp_lib_generator)
#include <generator>
#endif

namespace batch_tests {

using gloom::filter;

// More than one chunk, and a rest.
constexpr int n = 1000;

inline filter fresh(std::uint64_t seed = 0) {
    gloom::options wanted;
    wanted.num_blocks = 100;
    wanted.k = 7;
    wanted.seed = seed;
    return must(filter::create(wanted));
}

inline std::vector<std::string> keys() {
    std::vector<std::string> all;
    for (int i = 0; i < n; i++)
        all.push_back("key-" + std::to_string(i) + std::string(static_cast<std::size_t>(i % 90), 'x'));
    return all;
}

inline filter one_by_one(std::uint64_t seed = 0) {
    filter f = fresh(seed);
    for (const std::string &key : keys())
        static_cast<void>(f.add(key));
    return f;
}

// A range whose iterators say that they are forward iterators, but have the key within, as boost::token_iterator does.
struct holders {
    class iterator {
    public:
        using iterator_category = std::forward_iterator_tag;
        using value_type = std::string;
        using difference_type = std::ptrdiff_t;
        using pointer = const std::string *;
        using reference = const std::string &;

        iterator(const std::vector<std::string> &all, std::size_t at) : all_(&all), at_(at) { hold(); }
        reference operator*() const { return held_; }
        iterator &operator++() {
            ++at_;
            hold();
            return *this;
        }
        iterator operator++(int) {
            iterator before = *this;
            ++*this;
            return before;
        }
        friend bool operator==(const iterator &a, const iterator &b) { return a.at_ == b.at_; }
        friend bool operator!=(const iterator &a, const iterator &b) { return a.at_ != b.at_; }

    private:
        void hold() { held_ = at_ < all_->size() ? (*all_)[at_] : std::string(); }

        const std::vector<std::string> *all_;
        std::size_t at_;
        std::string held_;
    };

    iterator begin() const { return iterator(all, 0); }
    iterator end() const { return iterator(all, all.size()); }

    const std::vector<std::string> &all;
};

template <class Keys> void expect_same_as_one_by_one(const Keys &all, std::uint64_t seed = 0) {
    const filter wanted = one_by_one(seed);
    filter f = fresh(seed);
    MUST_DO(f.add_all(all));
    EXPECT_EQ(f, wanted);
    EXPECT_EQ(f.count(), wanted.count());
    std::vector<bool> answers;
    EXPECT_EQ(f.test_all(all, std::back_inserter(answers)), static_cast<std::size_t>(n));
    EXPECT_EQ(answers, std::vector<bool>(n, true));
    EXPECT_EQ(f.test_all(all), std::vector<std::uint8_t>(n, 1));
}

TEST(Batch, Containers) {
    const std::vector<std::string> all = keys();
    expect_same_as_one_by_one(all);
    expect_same_as_one_by_one(std::list<std::string>(all.begin(), all.end()));
    expect_same_as_one_by_one(std::forward_list<std::string>(all.begin(), all.end()));
    expect_same_as_one_by_one(holders{all});
    expect_same_as_one_by_one(std::deque<std::string>(all.begin(), all.end()));
    expect_same_as_one_by_one(std::set<std::string>(all.begin(), all.end()));
    expect_same_as_one_by_one(std::vector<std::string_view>(all.begin(), all.end()));
    expect_same_as_one_by_one(std::vector<gloom::bytes_view>(all.begin(), all.end()));
    std::vector<const char *> pointers;
    std::vector<std::vector<std::uint8_t>> bytes;
    std::vector<gloom::hash> hashes;
    for (const std::string &key : all) {
        pointers.push_back(key.c_str());
        bytes.emplace_back(key.begin(), key.end());
        hashes.push_back(gloom::hash_of(key));
    }
    expect_same_as_one_by_one(pointers);
    expect_same_as_one_by_one(bytes);
    expect_same_as_one_by_one(hashes);
}

// An iterator that keeps its key inside itself, and one that makes each on the fly: no address may outlive its key.
TEST(Batch, KeysThatDoNotStay) {
    std::string text;
    for (const std::string &key : keys())
        text += key + '\n';
    filter f = fresh(9);
    std::istringstream words(text);
    using word = std::istream_iterator<std::string>;
    MUST_DO(f.add_all(word(words), word()));
    EXPECT_EQ(f, one_by_one(9));
    std::istringstream again(text);
    std::vector<int> answers;
    EXPECT_EQ(f.test_all(word(again), word(), std::back_inserter(answers)), static_cast<std::size_t>(n));
#if __cplusplus >= 202002L && !defined(__clang__) // clang 14 does not take the views of libstdc++ 12
    const std::vector<std::string> all = keys();
    const auto made = all | std::views::transform([](const std::string &key) { return key.substr(0, key.size()); });
    expect_same_as_one_by_one(made, 9);
    const auto views = all | std::views::transform([](const std::string &key) { return std::string_view(key); });
    expect_same_as_one_by_one(views);
    expect_same_as_one_by_one(all | std::views::take_while([](const std::string &) { return true; }));
#endif
}

// The least that a range can be: its iterators cannot be copied, have no category and keep their key; they end at a
// sentinel; it is not constant. So are the generators and the istream views of later standards.
class countdown {
public:
    struct sentinel {};
    class iterator {
    public:
        explicit iterator(int from) : left_(from), key_(std::to_string(from)) {}
        iterator(iterator &&) = default;
        iterator &operator=(iterator &&) = default;
        const std::string &operator*() const { return key_; }
        iterator &operator++() {
            key_ = std::to_string(--left_);
            return *this;
        }
        void operator++(int) { ++*this; }
        friend bool operator!=(const iterator &at, sentinel) { return at.left_ > 0; }

    private:
        int left_;
        std::string key_;
    };
    iterator begin() { return iterator(n); }
    sentinel end() { return {}; }
};

// The same of numbers.
class numbers_down : countdown {
public:
    class iterator : public countdown::iterator {
    public:
        using countdown::iterator::iterator;
        int operator*() const { return std::stoi(countdown::iterator::operator*()); }
    };
    iterator begin() { return iterator(n); }
    using countdown::end;
};

TEST(Batch, TheLeastOfRanges) {
    std::vector<std::string> all;
    std::vector<int> numbers;
    for (int i = n; i > 0; i--) {
        all.push_back(std::to_string(i));
        numbers.push_back(i);
    }
    const std::vector<std::uint8_t> ones(n, 1);
    filter wanted = fresh();
    MUST_DO(wanted.add_all(all));
    filter f = fresh();
    MUST_DO(f.add_all(countdown()));
    EXPECT_EQ(f, wanted);
    countdown again;
    filter g = fresh();
    MUST_DO(g.add_all(again.begin(), again.end()));
    EXPECT_EQ(g, wanted);
    EXPECT_EQ(f.test_all(countdown()), ones);
    EXPECT_EQ(f.test_all(again), ones);
    std::vector<std::uint8_t> answers;
    EXPECT_EQ(f.test_all(again.begin(), again.end(), std::back_inserter(answers)), static_cast<std::size_t>(n));
    EXPECT_EQ(answers, ones);

    filter wanted_numbers = fresh();
    MUST_DO(wanted_numbers.add_values(numbers));
    filter h = fresh();
    MUST_DO(h.add_values(numbers_down()));
    EXPECT_EQ(h, wanted_numbers);
    numbers_down numbers_again;
    EXPECT_EQ(h.test_values(numbers_again), ones);
    answers.clear();
    EXPECT_EQ(h.test_values(numbers_again, std::back_inserter(answers)), static_cast<std::size_t>(n));
}

#if __cplusplus >= 202002L && !defined(__clang__)
TEST(Batch, ViewsThatAreNotConstant) {
    std::vector<std::string> all = keys();
    std::string text;
    for (const std::string &key : all)
        text += key + '\n';
    text.pop_back();
    const filter wanted = one_by_one();
    const auto expect_keys = [&](auto make) {
        filter f = fresh();
        MUST_DO(f.add_all(make()));
        EXPECT_EQ(f, wanted);
        EXPECT_EQ(f.test_all(make()), std::vector<std::uint8_t>(n, 1));
        auto view = make();
        EXPECT_EQ(f.test_all(view), std::vector<std::uint8_t>(n, 1));
    };
    expect_keys([&] { return all | std::views::filter([](const std::string &key) { return !key.empty(); }); });
    expect_keys([&] { return all | std::views::drop_while([](const std::string &key) { return key.empty(); }); });
    expect_keys([&] { return std::string_view(text) | std::views::split('\n') | std::views::transform([](auto word) {
                                 return std::string_view(word.begin(), word.end());
                             }); });
    // Joined from strings that are made on the way: the keys are gone when the iterator moves on.
    expect_keys([&] { return all | std::views::transform([](const std::string &key) { return std::vector{key}; }) |
                             std::views::join; });

    std::istringstream words(text);
    filter f = fresh();
    MUST_DO(f.add_all(std::views::istream<std::string>(words)));
    EXPECT_EQ(f, wanted);
    std::istringstream again(text);
    auto view = std::views::istream<std::string>(again);
    filter g = fresh();
    MUST_DO(g.add_all(view.begin(), view.end()));
    EXPECT_EQ(g, wanted);
    std::istringstream once_more(text);
    EXPECT_EQ(g.test_all(std::views::istream<std::string>(once_more)), std::vector<std::uint8_t>(n, 1));

    std::vector<int> numbers;
    for (int i = 0; i < n; i++)
        numbers.push_back(i);
    auto even = numbers | std::views::filter([](int i) { return i % 2 == 0; });
    filter h = fresh();
    MUST_DO(h.add_values(even));
    EXPECT_EQ(h.count(), static_cast<std::uint64_t>(n / 2));
    EXPECT_EQ(h.test_values(even), std::vector<std::uint8_t>(n / 2, 1));
    filter i = fresh();
    MUST_DO(i.add_values(numbers | std::views::drop_while([](int number) { return number < 0; })));
    EXPECT_EQ(i.count(), static_cast<std::uint64_t>(n));
    std::istringstream digits("1 2 3");
    MUST_DO(i.add_values(std::views::istream<long>(digits)));
    EXPECT_TRUE(i.test(gloom::key_of(3L)));
}
#endif

#if defined(__cpp_lib_generator)
inline std::generator<std::string> generated() {
    for (const std::string &key : keys())
        co_yield key;
}
inline std::generator<int> generated_numbers() {
    for (int i = 0; i < n; i++)
        co_yield i;
}

TEST(Batch, Generators) {
    filter f = fresh();
    MUST_DO(f.add_all(generated()));
    EXPECT_EQ(f, one_by_one());
    EXPECT_EQ(f.test_all(generated()), std::vector<std::uint8_t>(n, 1));
    filter g = fresh();
    MUST_DO(g.add_values(generated_numbers()));
    EXPECT_EQ(g.test_values(generated_numbers()), std::vector<std::uint8_t>(n, 1));
}
#endif

template <class Values> void expect_values(const Values &values) {
    filter wanted = fresh();
    std::size_t how_many = 0;
    for (const auto &value : values) {
        static_cast<void>(wanted.add(gloom::key_of(value)));
        how_many++;
    }
    filter f = fresh();
    MUST_DO(f.add_values(values));
    EXPECT_EQ(f, wanted);
    EXPECT_EQ(f.test_values(values), std::vector<std::uint8_t>(how_many, 1));
    std::vector<int> answers;
    EXPECT_EQ(f.test_values(values, std::back_inserter(answers)), how_many);
    EXPECT_EQ(answers, std::vector<int>(how_many, 1));
}

TEST(Batch, Values) {
    std::vector<std::uint64_t> numbers;
    for (std::uint64_t i = 0; i < n; i++)
        numbers.push_back(i * i);
    expect_values(numbers);
    expect_values(std::list<std::uint64_t>(numbers.begin(), numbers.end()));
    expect_values(std::set<int>(numbers.begin(), numbers.begin() + 300));
    expect_values(std::array<std::uint16_t, 3>{1, 2, 3});
    expect_values(std::vector<std::array<std::uint32_t, 4>>(5, {1, 2, 3, 4}));
    expect_values(std::list<std::array<std::uint64_t, 32>>(40, std::array<std::uint64_t, 32>{1}));
    std::vector<bool> bits(10, true); // whose elements are proxies
    filter of_bits = fresh();
    MUST_DO(of_bits.add_values(bits));
    MUST_DO(of_bits.add_values(bits.begin(), bits.end()));
    EXPECT_TRUE(of_bits.test(gloom::key_of(true)));
    EXPECT_EQ(of_bits.test_values(bits), std::vector<std::uint8_t>(10, 1));
    const short raw[] = {1, 2, 3};
    expect_values(raw);
#if __cplusplus >= 202002L
    expect_values(std::span<const std::uint64_t>(numbers).subspan(10, 500));
#endif
#if __cplusplus >= 202002L && !defined(__clang__)
    expect_values(std::views::iota(1, n));
#endif
    std::istringstream text("1 2 3");
    filter f = fresh();
    MUST_DO(f.add_values(std::istream_iterator<long>(text), std::istream_iterator<long>()));
    EXPECT_EQ(f.test_values(std::vector<long>{1, 2, 3, 4}), (std::vector<std::uint8_t>{1, 1, 1, 0}));
}

TEST(Batch, WhatIsAbsentIsZero) {
    filter f = must(filter::atomic(100000, 1e-6));
    MUST_DO(f.add_all(keys()));
    std::vector<std::string> mixed;
    for (int i = 0; i < n; i++)
        mixed.push_back(i % 3 == 0 ? keys()[static_cast<std::size_t>(i % 50)] : "absent-" + std::to_string(i));
    const std::vector<std::uint8_t> answers = f.test_all(mixed);
    for (std::size_t i = 0; i < answers.size(); i++)
        EXPECT_EQ(answers[i], i % 3 == 0 ? 1 : 0) << i;
}

TEST(Batch, Nothing) {
    filter f = fresh();
    MUST_DO(f.add_all(std::vector<std::string>()));
    MUST_DO(f.add_values(std::vector<int>()));
    MUST_DO(f.add_all(std::list<std::string_view>()));
    EXPECT_TRUE(f.test_all(std::vector<std::string>()).empty());
    EXPECT_EQ(f, fresh());
}

TEST(Batch, ExactlyOneChunk) {
    for (const std::size_t size : {1U, 255U, 256U, 257U, 512U}) {
        filter wanted = fresh();
        std::list<std::string> some;
        for (std::size_t i = 0; i < size; i++) {
            some.push_back(std::to_string(i));
            static_cast<void>(wanted.add(some.back()));
        }
        filter f = fresh();
        MUST_DO(f.add_all(some));
        EXPECT_EQ(f, wanted);
        EXPECT_EQ(f.count(), size);
    }
}

TEST(Batch, Offsets) {
    const std::string data = "?abcdef";
    const std::array<std::int32_t, 5> offsets = {1, 3, 3, 6, 7}; // ab, nothing, cde, f
    const std::array<std::int64_t, 5> wide = {1, 3, 3, 6, 7};
    filter f = fresh();
    MUST_DO(f.add_offsets(data, offsets.data(), 4));
    filter g = fresh();
    MUST_DO(g.add_offsets(data, wide.data(), 4));
    EXPECT_EQ(f, g);
    EXPECT_TRUE(f.test("ab") && f.test("") && f.test("cde") && f.test("f"));
    EXPECT_EQ(f.count(), 4U);
    std::array<std::uint8_t, 4> results = {};
    EXPECT_EQ(f.test_offsets(data, offsets.data(), 4, results.data()), 4U);
    EXPECT_EQ(f.test_offsets(data, wide.data(), 4, nullptr), 4U);
    const std::array<std::int32_t, 2> beyond = {0, 8};
    EXPECT_FAILURE(f.add_offsets(data, beyond.data(), 1), gloom::errc::invalid_argument, "");
    EXPECT_EQ(f.test_offsets(data, beyond.data(), 1, results.data()), 1U) << "maybe";
}

#if GLOOM_EXCEPTIONS
TEST(Batch, AnIteratorMayThrow) {
    filter f = fresh();
    std::vector<std::string> all = keys();
    std::istringstream bad("1 2 x");
    bad.exceptions(std::ios::failbit);
    using number = std::istream_iterator<int>;
    EXPECT_THROW(f.add_values(number(bad), number()), std::ios::failure);
    EXPECT_EQ(f, fresh()) << "the chunk was not full yet";
}
#endif

} // namespace batch_tests

#endif
