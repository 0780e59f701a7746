#pragma once
#include "../../_cudalint_torch/tensor.h"
