#pragma once
#include "npp.h"
