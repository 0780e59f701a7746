// The prelude declares all of it.
#pragma once
