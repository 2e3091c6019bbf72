// The tests of the wrapper, as one unit, because GoogleTest's and the standard's headers take longer to compile than they;
// what is about the program as a whole; and its main.
#include "batch_tests.hpp"
#include "both_modes.hpp"
#include "bytes_tests.hpp"
#include "filter_tests.hpp"
#include "golden_tests.hpp"
#include "keys_tests.hpp"

bool made_and_asked_elsewhere();
const std::error_category &category_elsewhere();
int status_of_a_bad_rate();

TEST(TwoUnits, IncludeTheHeader) {
    EXPECT_TRUE(made_and_asked_elsewhere());
    EXPECT_EQ(gloom::category(), category_elsewhere());
}

TEST(TwoUnits, OfBothModes) {
    EXPECT_EQ(status_of_a_bad_rate(), GLOOM_ERR_INVALID_ARGUMENT);
    EXPECT_FAILURE(gloom::filter::atomic(1, 2), gloom::errc::invalid_argument, "fp_rate");
}

#if defined(__cpp_exceptions)
void write_to_a_sink_that_throws();

TEST(TwoUnits, NothingMayThrowWhereResultsAreReturned) { EXPECT_DEATH(write_to_a_sink_that_throws(), ""); }
#endif

int main(int argc, char **argv) {
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
