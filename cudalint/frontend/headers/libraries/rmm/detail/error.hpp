#pragma once
#include "../../_cudalint_rmm/rmm.h"
