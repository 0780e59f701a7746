#pragma once
#include "../mdspan"
