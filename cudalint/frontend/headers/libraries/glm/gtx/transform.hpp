#pragma once
#include "../../_cudalint_glm/matrices.h"
