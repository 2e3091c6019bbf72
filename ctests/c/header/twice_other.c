#include "gloom.h"
#include "gloom.h"

int key_is_there(const gloom_filter *filter);

int key_is_there(const gloom_filter *filter)
{
    gloom_load_options options = GLOOM_LOAD_OPTIONS_INIT;
    gloom_map_options map_options = GLOOM_MAP_OPTIONS_INIT;
    if (options.struct_size != sizeof options || map_options.struct_size != sizeof map_options)
        return 0;
    if (gloom_version() != GLOOM_VERSION || gloom_abi_version() != GLOOM_ABI_VERSION)
        return 0;
    return gloom_test(filter, "key", 3);
}
