/* The header needs nothing before it. */
#include "gloom.h"
