#pragma once
#include "../_cudalint_fmt/fmt.h"
