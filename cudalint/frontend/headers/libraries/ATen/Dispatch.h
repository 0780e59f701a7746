#pragma once
#include "../_cudalint_torch/dispatch.h"
