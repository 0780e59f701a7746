#pragma once
#include "../../_cudalint_torch/accessors.h"
