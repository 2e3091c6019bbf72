// One suite for both modes of the wrapper: failures that are thrown and failures that are returned.
#ifndef GLOOM_TESTS_BOTH_MODES_HPP
#define GLOOM_TESTS_BOTH_MODES_HPP

#include <gloom/gloom.hpp>
#include <gtest/gtest.h>

#include <string>
#include <utility>

// What a call that must succeed gives; and a check that a call fails as it should, with these words in its message.
#if GLOOM_EXCEPTIONS

template <class T> T must(T value) { return value; }
#define MUST_DO(call) ASSERT_NO_THROW(call)
#define EXPECT_FAILURE(call, wanted, words)                                                                            \
    try {                                                                                                              \
        static_cast<void>(call);                                                                                       \
        ADD_FAILURE() << #call " did not throw";                                                                       \
    } catch (const gloom::error &why) {                                                                                \
        expect_failure(why, wanted, words);                                                                            \
    }

#else

template <class T> T must(gloom::result<T> result) {
    if (!result.has_value())
        ADD_FAILURE() << result.error().what();
    return std::move(result).value(); // ends the process if there is none
}
#define MUST_DO(call) ASSERT_TRUE((call).has_value())
#define EXPECT_FAILURE(call, wanted, words)                                                                            \
    do {                                                                                                               \
        const auto outcome_of_call = (call);                                                                           \
        EXPECT_FALSE(outcome_of_call.has_value()) << #call;                                                            \
        EXPECT_EQ(outcome_of_call.status(), wanted) << #call;                                                          \
        expect_failure(outcome_of_call.error(), wanted, words);                                                        \
    } while (false)

#endif

inline void expect_failure(const gloom::error &why, gloom::errc wanted, const std::string &words) {
    EXPECT_EQ(why.status(), wanted) << why.what();
    EXPECT_EQ(why.code(), wanted);
    EXPECT_NE(std::string(why.what()).find(words), std::string::npos) << why.what() << "\n  has not: " << words;
}

#endif
