#pragma once
#include "../_cudalint_random123/random123.h"
