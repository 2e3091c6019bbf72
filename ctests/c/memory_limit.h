/* Makes memory short, to see that running out of it is a status. AddressSanitizer reserves terabytes of
 * addresses for itself and cannot live under such a limit, so a program asks CAN_LIMIT_MEMORY first. */
#ifndef MEMORY_LIMIT_H
#define MEMORY_LIMIT_H

#include <sys/resource.h>
#include <unistd.h>

#include "check.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CAN_LIMIT_MEMORY 0
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || !defined(__linux__)
#undef CAN_LIMIT_MEMORY
#define CAN_LIMIT_MEMORY 0
#endif
#ifndef CAN_LIMIT_MEMORY
#define CAN_LIMIT_MEMORY 1
#endif

/* The pages of addresses this process has now. */
static inline uint64_t address_space_in_use(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    REQUIRE(file != NULL);
    REQUIRE(fscanf(file, "%llu", &pages) == 1);
    fclose(file);
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* From here on only `more` bytes of addresses can be had. */
static inline void limit_memory(uint64_t more)
{
    struct rlimit limit;
    REQUIRE(getrlimit(RLIMIT_AS, &limit) == 0);
    limit.rlim_cur = (rlim_t)(address_space_in_use() + more);
    REQUIRE(setrlimit(RLIMIT_AS, &limit) == 0);
}

static inline void unlimit_memory(void)
{
    struct rlimit limit;
    REQUIRE(getrlimit(RLIMIT_AS, &limit) == 0);
    limit.rlim_cur = limit.rlim_max;
    REQUIRE(setrlimit(RLIMIT_AS, &limit) == 0);
}

#endif
