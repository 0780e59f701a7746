#pragma once
#include "../_cudalint_torch/scalars.h"
