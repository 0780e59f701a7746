// The prelude for files that include one of the stream headers anyway: precompiled, these cost nothing.
#pragma once
#include "prelude.h"
#include "../iostream"
#include "../memory"
#include "../string"
