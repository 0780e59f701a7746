#pragma once
#include "../utility"
