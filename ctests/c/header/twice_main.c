/* The header twice in one unit, and again in another of the same program. C and C++. */
#include "gloom.h"
#include "gloom.h"

int key_is_there(const gloom_filter *filter); /* in twice_other.c */

int main(void)
{
    gloom_options options = GLOOM_OPTIONS_INIT;
    gloom_sizing sizing = GLOOM_SIZING_INIT;
    gloom_filter *filter = NULL;
    gloom_error error;
    int there;
    options.expected_items = 100;
    options.fp_rate = 0.01;
    if (gloom_size_for(100, 0.01, &sizing, &error) != GLOOM_OK)
        return 1;
    if (gloom_create(&options, &filter, &error) != GLOOM_OK)
        return 2;
    if (gloom_num_blocks(filter) != sizing.num_blocks || gloom_add(filter, "key", 3) != GLOOM_OK)
        return 3;
    there = key_is_there(filter);
    gloom_free(filter);
    return there ? 0 : 4;
}
