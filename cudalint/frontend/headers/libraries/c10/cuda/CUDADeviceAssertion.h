#pragma once
#include "../../_cudalint_torch/cuda.h"
