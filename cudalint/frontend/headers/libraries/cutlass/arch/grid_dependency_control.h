#pragma once
#include "../../_cudalint_cutlass/cutlass.h"
