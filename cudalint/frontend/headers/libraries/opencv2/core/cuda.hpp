#pragma once
#include "../../_cudalint_opencv/opencv.h"
