#pragma once
#include "../_cudalint_torch/python.h"
