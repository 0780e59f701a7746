#pragma once
#include "../_cudalint/thrust.h"
