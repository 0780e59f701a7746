#pragma once
#include "_cudalint/base.h"
#define offsetof(TYPE, MEMBER) __builtin_offsetof(TYPE, MEMBER)
typedef decltype(nullptr) nullptr_t;
typedef long double max_align_t;
