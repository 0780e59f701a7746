#pragma once
#include "complex"
