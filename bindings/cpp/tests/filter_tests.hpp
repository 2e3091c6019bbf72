// The filter: making, asking, figures, whole filters, what happens to empty ones.
#ifndef GLOOM_TESTS_FILTER_TESTS_HPP
#define GLOOM_TESTS_FILTER_TESTS_HPP

#include "both_modes.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace filter_tests {

using gloom::errc;
using gloom::filter;

inline filter of_geometry(std::uint64_t num_blocks, std::uint32_t k, gloom::kind kind = gloom::kind::atomic) {
    gloom::options wanted;
    wanted.kind = kind;
    wanted.num_blocks = num_blocks;
    wanted.k = k;
    return must(filter::create(wanted));
}

TEST(Filter, ThreeKindsOneSetOfBits) {
    filter plain = must(filter::plain(1000, 0.01));
    filter atomic = must(filter::atomic(1000, 0.01));
    filter sharded = must(filter::sharded(1000, 0.01, 4));
    EXPECT_EQ(plain.kind(), gloom::kind::plain);
    EXPECT_EQ(atomic.kind(), gloom::kind::atomic);
    EXPECT_EQ(sharded.kind(), gloom::kind::sharded);
    EXPECT_EQ(sharded.num_shards(), 4U);
    for (int i = 0; i < 1000; i++) {
        const std::string key = "key-" + std::to_string(i);
        MUST_DO(plain.add(key));
        MUST_DO(atomic.add(key));
        MUST_DO(sharded.add(key));
    }
    EXPECT_EQ(plain, atomic);
    EXPECT_EQ(atomic, sharded);
    EXPECT_EQ(sharded.count(), 1000U);
    for (int i = 0; i < 1000; i++)
        ASSERT_TRUE(plain.test("key-" + std::to_string(i)));
    MUST_DO(plain.add("one more"));
    EXPECT_NE(plain, atomic);
}

TEST(Filter, TestAndAddTellsWhatTestWouldHave) {
    filter f = must(filter::atomic(1000, 0.001));
    EXPECT_FALSE(must(f.test_and_add("a")));
    EXPECT_TRUE(must(f.test_and_add("a")));
    EXPECT_FALSE(must(f.test_and_add("b", 1)));
    EXPECT_TRUE(f.contains("b"));
    EXPECT_EQ(f.count(), 3U);
}

TEST(Filter, Facts) {
    gloom::options wanted;
    wanted.kind = gloom::kind::sharded;
    wanted.expected_items = 100000;
    wanted.fp_rate = 0.01;
    wanted.num_shards = 8;
    wanted.seed = 5;
    wanted.block_multiple = 16;
    wanted.small_pages = true;
    filter f = must(filter::create(wanted));
    const gloom::sizing planned = must(gloom::size_for(100000, 0.01));
    EXPECT_GE(f.num_blocks(), planned.num_blocks);
    EXPECT_EQ(f.num_blocks() % 16, 0U);
    EXPECT_EQ(f.k(), planned.k);
    EXPECT_EQ(planned.bytes, planned.num_blocks * 64);
    EXPECT_LE(planned.fp_rate, 0.01);
    EXPECT_NEAR(planned.bits_per_item, 10.02, 0.1);
    EXPECT_EQ(f.num_shards(), 8U);
    EXPECT_EQ(f.seed(), 5U);
    EXPECT_EQ(f.expected_items(), 100000U);
    EXPECT_EQ(f.fp_rate(), 0.01);
    EXPECT_EQ(f.bit_capacity(), f.num_blocks() * 512);
    EXPECT_GT(f.memory_bytes(), f.num_blocks() * 64);
    EXPECT_EQ(f.blocks().size(), f.num_blocks() * 64);
    EXPECT_NE(f.simd_level(), nullptr);
    EXPECT_FALSE(f.is_mapped());
    EXPECT_FALSE(f.is_read_only());
    EXPECT_FALSE(f.is_stale());
    EXPECT_NEAR(f.predict_fp_rate(100000), 0.01, 0.0005);
    EXPECT_EQ(f.predict_fp_rate(100000), gloom::predict_fp_rate(f.num_blocks(), f.k(), 100000));
    EXPECT_EQ(f.fill_ratio(), 0.0);
    EXPECT_EQ(f.estimate_items(), 0U);
    for (std::uint32_t i = 0; i < 100000; i++)
        MUST_DO(f.add(gloom::key_of(i)));
    EXPECT_NEAR(f.current_fp_rate(), 0.01, 0.001);
    ASSERT_TRUE(f.estimate_items().has_value());
    EXPECT_NEAR(static_cast<double>(*f.estimate_items()), 1e5, 2e3);
    EXPECT_GT(f.fill_ratio(), 0.4);
    EXPECT_LT(f.fill_ratio(), 0.6);
}

TEST(Filter, AFullOneHasNoEstimate) {
    filter f = of_geometry(1, 8);
    for (int i = 0; i < 20000; i++)
        MUST_DO(f.add(gloom::key_of(i)));
    EXPECT_FALSE(f.estimate_items().has_value());
    EXPECT_EQ(f.current_fp_rate(), 1.0);
}

TEST(Filter, OptionsHaveNames) {
#if __cplusplus >= 202002L
    filter f = must(filter::create({.kind = gloom::kind::plain, .num_blocks = 7, .k = 5}));
    EXPECT_EQ(f.num_blocks(), 7U);
    EXPECT_EQ(f.k(), 5U);
#else
    EXPECT_EQ(of_geometry(7, 5).num_blocks(), 7U);
#endif
}

TEST(Filter, MergeIntersectFoldClear) {
    filter a = of_geometry(64, 7);
    filter b = of_geometry(64, 7, gloom::kind::sharded);
    MUST_DO(a.add("a"));
    MUST_DO(a.add("both"));
    MUST_DO(b.add("b"));
    MUST_DO(b.add("both"));
    filter all = must(a.clone());
    EXPECT_EQ(all, a);
    MUST_DO(all.merge(b));
    EXPECT_TRUE(all.test("a") && all.test("b") && all.test("both"));
    EXPECT_EQ(all.count(), 4U);

    filter common = must(a.clone());
    MUST_DO(common.intersect(b));
    EXPECT_TRUE(common.test("both"));
    EXPECT_FALSE(common.test("a") || common.test("b"));

    const filter folded = must(all.fold(4));
    EXPECT_EQ(folded.num_blocks(), 16U);
    EXPECT_TRUE(folded.test("a") && folded.test("b") && folded.test("both"));

    filter again = must(b.clone());
    MUST_DO(again.merge_serialized(must(a.serialize())));
    EXPECT_EQ(again, all);

    MUST_DO(all.clear());
    EXPECT_EQ(all, of_geometry(64, 7));
    EXPECT_EQ(all.count(), 0U);
}

TEST(Filter, MovesAndOwns) {
    filter a = must(filter::atomic(100, 0.01));
    MUST_DO(a.add("key"));
    filter b = std::move(a);
    EXPECT_TRUE(static_cast<bool>(b));
    EXPECT_FALSE(static_cast<bool>(a)); // NOLINT: what is left is defined
    EXPECT_TRUE(b.test("key"));
    filter c;
    c = std::move(b);
    swap(a, c);
    EXPECT_TRUE(a.test("key"));
    EXPECT_FALSE(a.test("other"));
    gloom_filter *handle = a.release();
    EXPECT_FALSE(static_cast<bool>(a));
    ASSERT_NE(handle, nullptr);
    const filter d(handle);
    EXPECT_EQ(d.get(), handle);
    EXPECT_TRUE(d.test("key"));
    std::vector<filter> many;
    for (int i = 0; i < 10; i++)
        many.push_back(must(filter::plain(10, 0.1)));
    EXPECT_EQ(many.size(), 10U);
}

// "Maybe" makes the caller ask the database; "no" would lose data.
TEST(Filter, AnEmptyOneAnswersMaybeAndRefusesTheRest) {
    filter empty;
    const std::vector<std::string> keys = {"a", "b", "c"};
    const std::vector<int> numbers = {1, 2, 3};
    const std::vector<std::uint8_t> maybes = {1, 1, 1};
    EXPECT_TRUE(empty.test("a"));
    EXPECT_TRUE(empty.contains("a"));
    EXPECT_TRUE(empty.test(gloom::hash_of("a")));
    EXPECT_EQ(empty.test_all(keys), maybes);
    EXPECT_EQ(empty.test_values(numbers), maybes);
    std::array<std::uint8_t, 3> results = {};
    const std::array<std::int32_t, 4> offsets = {0, 1, 2, 3};
    EXPECT_EQ(empty.test_offsets("abc", offsets.data(), 3, results.data()), 3U);
    EXPECT_EQ(results[2], 1);
    EXPECT_FAILURE(empty.add("a"), errc::null, "");
    EXPECT_FAILURE(empty.add(gloom::hash_of("a")), errc::null, "");
    EXPECT_FAILURE(empty.test_and_add("a"), errc::null, "");
    EXPECT_FAILURE(empty.add_all(keys), errc::null, "");
    EXPECT_FAILURE(empty.add_all(std::vector<std::string>()), errc::null, "");
    EXPECT_FAILURE(empty.add_values(numbers), errc::null, "");
    EXPECT_FAILURE(empty.merge(empty), errc::null, "");
    EXPECT_FAILURE(empty.clear(), errc::null, "");
    EXPECT_FAILURE(empty.clone(), errc::null, "");
    EXPECT_FAILURE(empty.serialize(), errc::null, "");
    EXPECT_FAILURE(empty.sync(), errc::null, "");
    EXPECT_EQ(empty.count(), 0U);
    EXPECT_EQ(empty.num_blocks(), 0U);
    EXPECT_EQ(empty.current_fp_rate(), 1.0);
    EXPECT_FALSE(empty.estimate_items().has_value());
    EXPECT_FALSE(empty == empty);
    EXPECT_EQ(empty.blocks().size(), 0U);
}

TEST(Failure, SaysWhat) {
    EXPECT_FAILURE(filter::atomic(1000, 1.5), errc::invalid_argument, "fp_rate = 1.5");
    EXPECT_FAILURE(filter::plain(1000, 1e-12), errc::unreachable_rate, "fp_rate");
    EXPECT_FAILURE(filter::sharded(1000, 0.01, 3), errc::invalid_argument, "num_shards");
    EXPECT_FAILURE(gloom::size_for(1000, 0.0), errc::invalid_argument, "fp_rate");
    gloom::options wanted;
    wanted.expected_items = 1000000;
    wanted.fp_rate = 0.01;
    wanted.max_bytes = 1000;
    EXPECT_FAILURE(filter::create(wanted), errc::limit, "max_bytes = 1000");
    filter seven = of_geometry(10, 7);
    EXPECT_FAILURE(seven.merge(of_geometry(10, 8)), errc::incompatible, "k");
    EXPECT_FAILURE(seven.fold(3), errc::invalid_argument, "factor");
    EXPECT_FAILURE(seven.sync(), errc::invalid_argument, "");
    EXPECT_EQ(seven.count(), 0U);
}

// What an add to a filter that is there refuses all the same. There is no more to say than the status.
TEST(Failure, OfWhatIsNoKey) {
    filter f = must(filter::atomic(1000, 0.01));
    EXPECT_FAILURE(f.add(nullptr, 5), errc::null, gloom_status_string(GLOOM_ERR_NULL));
    EXPECT_FAILURE(f.add("x", SIZE_MAX), errc::invalid_argument, gloom_status_string(GLOOM_ERR_INVALID_ARGUMENT));
    EXPECT_FAILURE(f.test_and_add("x", SIZE_MAX), errc::invalid_argument, "");
    EXPECT_TRUE(f.test(nullptr, 5) && f.test("x", SIZE_MAX));
    EXPECT_EQ(f.count(), 0U);
}

TEST(Failure, IsAnErrorCode) {
    const std::error_code code = errc::limit;
    EXPECT_STREQ(code.category().name(), "gloom");
    EXPECT_EQ(code.message(), gloom_status_string(GLOOM_ERR_LIMIT));
    EXPECT_EQ(make_error_code(errc::out_of_memory), std::errc::not_enough_memory);
    EXPECT_EQ(make_error_code(errc::busy), std::errc::device_or_resource_busy);
    EXPECT_EQ(make_error_code(errc::io), std::errc::io_error);
    EXPECT_EQ(make_error_code(errc::cancelled), std::errc::operation_canceled);
    EXPECT_EQ(make_error_code(errc::unreachable_rate), std::errc::invalid_argument);
    EXPECT_NE(make_error_code(errc::corrupt), std::errc::io_error);
    EXPECT_FALSE(make_error_code(errc::ok));
}

#if GLOOM_EXCEPTIONS
TEST(Failure, IsASystemError) {
    EXPECT_THROW(static_cast<void>(filter::atomic(1, 2)), std::system_error);
    EXPECT_THROW(static_cast<void>(filter::atomic(1, 2)), std::exception);
}
#else
TEST(Failure, IsAResult) {
    gloom::result<filter> made = filter::atomic(10, 0.1);
    ASSERT_TRUE(made);
    EXPECT_EQ(made.status(), errc::ok);
    EXPECT_EQ(made->k(), (*made).k());
    filter f = *std::move(made);
    gloom::result<bool> was_there = f.test_and_add("a");
    static_assert(!std::is_constructible_v<bool, gloom::result<bool>>, "success or value? has_value() and value() say");
    ASSERT_TRUE(was_there.has_value());
    EXPECT_FALSE(was_there.value());
    EXPECT_DEATH(static_cast<void>(filter::atomic(1, 2).value()), "");
    EXPECT_DEATH(filter().add("a").value(), "");
}
#endif

TEST(Threads, ManyAddOthersAsk) {
    constexpr std::uint64_t keys = 20000;
    filter sharded = must(filter::sharded(4 * keys, 0.01));
    filter atomic = must(filter::atomic(4 * keys, 0.01));
    std::vector<std::thread> threads;
    std::array<bool, 4> lost = {};
    for (std::uint64_t t = 0; t < 4; t++)
        threads.emplace_back([&, t] {
            for (std::uint64_t i = t * keys; i < (t + 1) * keys; i++) {
                static_cast<void>(sharded.add(gloom::key_of(i)));
                static_cast<void>(atomic.add(gloom::key_of(i)));
                lost[t] = lost[t] || !sharded.test(gloom::key_of(i)) || !atomic.test(gloom::key_of(i));
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_EQ(lost, (std::array<bool, 4>{}));
    EXPECT_EQ(sharded.count(), 4 * keys);
    EXPECT_EQ(sharded, atomic);
}

TEST(Library, BelongsToTheHeader) {
    EXPECT_TRUE(gloom::abi_matches());
    EXPECT_EQ(gloom::version(), static_cast<std::uint32_t>(GLOOM_VERSION));
    EXPECT_STREQ(gloom::version_string(), GLOOM_VERSION_STRING);
}

} // namespace filter_tests

#endif
