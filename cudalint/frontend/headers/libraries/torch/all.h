#pragma once
#include "../_cudalint_torch/torch.h"
